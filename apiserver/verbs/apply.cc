#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "api/base/errors.h"
#include "api/json_access.h"
#include "apiserver/defaulting.h"
#include "apiserver/internal/applied_config.h"
#include "apiserver/internal/body.h"
#include "apiserver/internal/creation.h"
#include "apiserver/internal/encode.h"
#include "apiserver/internal/field_owners.h"
#include "apiserver/internal/options.h"
#include "apiserver/internal/respond.h"
#include "apiserver/internal/update.h"
#include "apiserver/internal/verbs.h"
#include "apiserver/internal/write_path.h"

namespace terrarium::apiserver {
namespace {

using api::Result;

// How often an object that comes or goes during the request is looked up again.
constexpr int kTries = 5;

struct Application : std::enable_shared_from_this<Application> {
  CallPtr call;
  PatchOptions options;
  int tries_left = kTries;

  void Try();
  void Create();
  void Update();
  // The object as the configuration makes it, ready for the rules of its kind. `old`: null if there is none.
  Result<Prepared> Apply(const api::ManagedFieldsPtr& owners, const Json& before, const Json* old) const;
};

Result<Prepared> Application::Apply(const api::ManagedFieldsPtr& owners, const Json& before,
                                    const Json* old) const {
  const ResourceInfo& resource = call->resource();
  const ExpectedKind kind = BodyKindOf(resource);
  auto config = ReadAppliedConfig(*call, kind);
  if (!config) return config.status();
  // What a gate drops belongs to no manager.
  call->gate_notes = DropGatedFields(resource.Schema(), config->document, old, call->server.env.gates);
  std::erase_if(call->gate_notes, [](const GateNote& note) { return note.what != GatedField::kDropped; });
  const api::OwnedType type = OwnedTypeOf(*call);
  const api::FieldManager manager = ManagerOf(*call, options.field_manager, /*applied=*/true);
  auto applied = ApplyConfig(*call, *config, {type, before, owners}, manager, options.force);
  if (!applied) return applied.status();
  if (auto fine = JudgeAppliedConfig(*call, *config, options.field_validation); !fine) return fine.status();
  auto object = DecodePatched(*call, applied->object ? std::move(*applied->object) : Json(before), kind,
                              FieldValidation::kIgnore);
  if (!object) return object.status();
  ApplyAllDefaults(resource, *object);
  return Prepared{std::move(*object), std::move(applied->owners)};
}

void Application::Try() {
  --tries_left;
  const bool exists = call->server.store.Get(call->Key()) != nullptr;
  if (!exists && call->route.subresource == nullptr) return Create();
  Update();
}

void Application::Create() {
  const std::size_t warnings_before = call->warnings.size();
  auto applied = Apply(nullptr, api::EmptyDocument(call->resource().Schema()), nullptr);
  if (!applied) return RespondError(call, applied.status());
  if (std::string uid(api::StringAt(applied->document, "metadata", "uid")); !uid.empty())
    return RespondError(call, api::Conflict(call->resource().Resource(), call->route.name,
                                            "uid mismatch: the provided object specified uid " + uid +
                                                ", and no existing object was found"));
  if (auto fine = CheckNames(*call, applied->document); !fine) return RespondError(call, fine.status());
  if (auto admitted = AdmitToNamespace(*call, call->route.name); !admitted)
    return RespondError(call, admitted.status());
  auto prepared = PrepareNew(*call, std::move(applied->document), OwnersAre(std::move(applied->owners)));
  if (!prepared) return RespondError(call, prepared.status());
  StoreNew(call, std::move(*prepared), {.dry_run = options.dry_run, .owners_required = true},
           [self = shared_from_this(), warnings_before](const api::Object& existing) {
             self->call->warnings.resize(warnings_before);
             if (self->tries_left > 0) return self->Try();
             RespondError(self->call,
                          api::AlreadyExists(self->call->resource().Resource(), existing.header().name));
           });
}

void Application::Update() {
  ChangeTarget target = OwnTarget(*call, options.dry_run);
  target.owners_required = true;
  ChangeObject(
      call, std::move(target),
      [self = shared_from_this()](const api::ObjectPtr& current, const Json& old) -> Result<Change> {
        Call& call = *self->call;
        const Json before = PresentedWithoutOwners(call.resource(), *current);
        auto applied = self->Apply(current->owners(), before, &old);
        if (!applied) return applied.status();
        if (auto fine = CheckNames(call, applied->document); !fine) return fine.status();
        if (auto fine = CheckVersion(call, applied->document, *current); !fine) return fine.status();
        return Replace(call, std::move(applied->document), old, OwnersAre(std::move(applied->owners)));
      },
      [self = shared_from_this()](Result<Changed> changed) {
        if (changed) return RespondObject(self->call, 200, changed->object);
        const bool gone = changed.status().Is(api::reason::kNotFound);
        if (gone && self->call->route.subresource == nullptr && self->tries_left > 0) return self->Try();
        RespondError(self->call, changed.status());
      });
}

}  // namespace

void ServeApply(const CallPtr& call) {
  auto options = ParsePatchOptions(call->request, /*apply=*/true);
  if (!options) return RespondError(call, options.status());
  auto application = std::make_shared<Application>();
  application->call = call;
  application->options = std::move(*options);
  application->Try();
}

}  // namespace terrarium::apiserver
