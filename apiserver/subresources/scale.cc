#include <utility>

#include "api/apply/scale_owners.h"
#include "api/base/errors.h"
#include "api/json_access.h"
#include "api/selector/label_selector.h"
#include "apiserver/internal/applied_config.h"
#include "apiserver/internal/body.h"
#include "apiserver/internal/field_owners.h"
#include "apiserver/internal/options.h"
#include "apiserver/internal/patch.h"
#include "apiserver/internal/respond.h"
#include "apiserver/internal/update.h"
#include "apiserver/internal/verbs.h"
#include "apiserver/internal/write_path.h"
#include "apiserver/validation/metadata.h"

namespace terrarium::apiserver {
namespace {

using api::Path;
using api::Result;

// A ReplicationController's selector is a plain map, the others' a LabelSelector.
std::string SelectorText(const ResourceInfo& resource, const Json& document) {
  const Json& selector = api::ObjectAt(document, "spec", "selector");
  if (resource.kind == "ReplicationController") return api::LabelSelector::FromMap(selector).String();
  auto parsed = api::LabelSelector::FromDocument(&selector);
  return parsed ? parsed->String() : "";
}

Json MakeScale(const ResourceInfo& resource, const Json& document) {
  const Json& metadata = api::ObjectAt(document, "metadata");
  Json scale = {{"kind", "Scale"}, {"apiVersion", "autoscaling/v1"}};
  for (const char* field : {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"})
    if (const Json* value = api::Find(metadata, field)) scale["metadata"][field] = *value;
  scale["spec"] = Json::object();
  if (std::int64_t replicas = api::IntAt(document, 0, "spec", "replicas"); replicas != 0)
    scale["spec"]["replicas"] = replicas;
  scale["status"]["replicas"] = api::IntAt(document, 0, "status", "replicas");
  if (std::string selector = SelectorText(resource, document); !selector.empty())
    scale["status"]["selector"] = std::move(selector);
  return scale;
}

// A Scale, and the owners of its only field.
struct OwnedScale {
  Json document;
  api::ManagedFields owners;
};

const api::FieldPath& ReplicasPath() {
  static const api::FieldPath kPath = {api::PathElement::Field("spec"), api::PathElement::Field("replicas")};
  return kPath;
}

api::OwnedType OwnedScaleType(const Call& call) {
  return {.type = api::ValueType::Of(BodyKindOf(*call.route.subresource).schema),
          .reset = nullptr,
          .serves = nullptr};
}

api::FieldManager ScaleManager(const Call& call, const std::string& field_manager, bool applied) {
  api::FieldManager manager = ManagerOf(call, field_manager, applied);
  manager.api_version = api::MemberName(api::kScaleApiVersion);
  return manager;
}

Result<Change> ChangeReplicas(Call& call, const OwnedScale& scale, const api::Object& current,
                              const Json& old) {
  if (auto fine = CheckNames(call, scale.document); !fine) return fine.status();
  std::int64_t replicas = api::IntAt(scale.document, 0, "spec", "replicas");
  if (FieldErrors errors = ValidateNonnegative(replicas, Path("spec.replicas")); !errors.empty())
    return api::Invalid({"autoscaling", "Scale"}, call.route.name, errors);
  if (auto fine = CheckVersion(call, scale.document, current); !fine) return fine.status();
  Json object = old;
  object["spec"]["replicas"] = replicas;
  const api::ManagedFields owners = current.owners() == nullptr ? api::ManagedFields() : *current.owners();
  api::ManagedFieldsPtr next = ShareOwners(api::OwnersFromScale(
      owners, scale.owners, ReplicasPath(), api::MemberName(call.resource().GroupVersion())));
  return Replace(call, std::move(object), old, OwnersAre(std::move(next)));
}

void RespondScale(const CallPtr& call, const api::Object& object) {
  RespondDocument(call, 200, MakeScale(call->resource(), object.Parse()),
                  BodyKindOf(*call->route.subresource).schema);
}

void ChangeScale(const CallPtr& call, bool dry_run,
                 std::function<Result<OwnedScale>(OwnedScale scale)> next_scale) {
  ChangeObject(
      call, OwnTarget(*call, dry_run),
      [call, next_scale = std::move(next_scale)](const api::ObjectPtr& current,
                                                 const Json& old) -> Result<Change> {
        OwnedScale scale{MakeScale(call->resource(), old), {}};
        if (current->owners() != nullptr)
          scale.owners = api::OwnersOfScale(*current->owners(), ReplicasPath());
        auto next = next_scale(std::move(scale));
        if (!next) return next.status();
        return ChangeReplicas(*call, *next, *current, old);
      },
      [call](Result<Changed> changed) {
        if (!changed) return RespondError(call, changed.status());
        RespondScale(call, *changed->object);
      });
}

// The Scale that replaces another one by an update. As in Kubernetes, an update begins no owners.
OwnedScale Updated(const Call& call, const std::string& field_manager, OwnedScale scale, Json next) {
  if (scale.owners.empty()) return {std::move(next), {}};
  std::string error;
  auto owners = api::OwnersAfterUpdate(OwnedScaleType(call), scale.document, next, std::move(scale.owners),
                                       ScaleManager(call, field_manager, /*applied=*/false),
                                       call.server.env.clock.Now(), &error);
  return {std::move(next), owners ? std::move(*owners) : api::ManagedFields()};
}

void PutScale(const CallPtr& call) {
  auto options = ParseWriteOptions(call->request, "UpdateOptions");
  if (!options) return RespondError(call, options.status());
  auto scale = DecodeBody(*call, BodyKindOf(*call->route.subresource), options->field_validation);
  if (!scale) return RespondError(call, scale.status());
  ChangeScale(call, options->dry_run,
              [call, manager = options->field_manager, sent = std::move(*scale)](OwnedScale scale)
                  -> Result<OwnedScale> { return Updated(*call, manager, std::move(scale), sent); });
}

Result<OwnedScale> Applied(Call& call, const PatchOptions& options, OwnedScale scale) {
  const ExpectedKind kind = BodyKindOf(*call.route.subresource);
  auto config = ReadAppliedConfig(call, kind);
  if (!config) return config.status();
  const api::OwnedType type = OwnedScaleType(call);
  auto applied = ApplyConfig(call, *config, {type, scale.document, ShareOwners(std::move(scale.owners))},
                             ScaleManager(call, options.field_manager, /*applied=*/true), options.force);
  if (!applied) return applied.status();
  if (auto fine = JudgeAppliedConfig(call, *config, options.field_validation); !fine) return fine.status();
  auto next = DecodePatched(call, applied->object ? std::move(*applied->object) : std::move(scale.document),
                            kind, FieldValidation::kIgnore);
  if (!next) return next.status();
  return OwnedScale{std::move(*next), applied->owners == nullptr ? api::ManagedFields() : *applied->owners};
}

void ApplyScale(const CallPtr& call) {
  auto options = ParsePatchOptions(call->request, /*apply=*/true);
  if (!options) return RespondError(call, options.status());
  ChangeScale(call, options->dry_run, [call, options = *options](OwnedScale scale) {
    return Applied(*call, options, std::move(scale));
  });
}

void PatchScale(const CallPtr& call) {
  auto type = PatchTypeOf(*call);
  if (!type) return RespondError(call, type.status());
  if (*type == PatchType::kApply) return ApplyScale(call);
  auto options = ParsePatchOptions(call->request, /*apply=*/false);
  if (!options) return RespondError(call, options.status());
  auto patch = ParsePatch(*call, *type);
  if (!patch) return RespondError(call, patch.status());
  ChangeScale(call, options->dry_run,
              [call, patch = std::move(*patch), options = *options](OwnedScale scale) -> Result<OwnedScale> {
                ExpectedKind kind = BodyKindOf(*call->route.subresource);
                auto patched = ApplyPatch(patch, kind.schema, scale.document);
                if (!patched) return patched.status();
                auto next = DecodePatched(*call, std::move(*patched), kind, options.field_validation);
                if (!next) return next.status();
                return Updated(*call, options.field_manager, std::move(scale), std::move(*next));
              });
}

}  // namespace

void ServeScale(const CallPtr& call) {
  if (call->route.verb == Verb::kUpdate) return PutScale(call);
  if (call->route.verb == Verb::kPatch) return PatchScale(call);
  if (auto plain = RefuseExport(call->request); !plain) return RespondError(call, plain.status());
  api::ObjectPtr object = call->server.store.Get(call->Key());
  if (object == nullptr)
    return RespondError(call, api::NotFound(call->resource().Resource(), call->route.name));
  RespondScale(call, *object);
}

}  // namespace terrarium::apiserver
