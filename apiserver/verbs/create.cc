#include <memory>
#include <utility>

#include "api/base/errors.h"
#include "api/json_access.h"
#include "apiserver/internal/body.h"
#include "apiserver/internal/creation.h"
#include "apiserver/internal/field_owners.h"
#include "apiserver/internal/options.h"
#include "apiserver/internal/respond.h"
#include "apiserver/internal/topology_labels.h"
#include "apiserver/internal/verbs.h"
#include "apiserver/internal/write_path.h"

namespace terrarium::apiserver {
namespace {

// How often a generated name that is taken is drawn again before the request fails.
constexpr int kGenerateNameTries = 8;

api::Status Exists(const ResourceInfo& resource, const api::Object& existing) {
  api::Status status = api::AlreadyExists(resource.Resource(), existing.header().name);
  if (existing.header().deleting) status.message = "object is being deleted: " + status.message;
  return status;
}

// The state of a create that outlives an attempt.
struct Creation : std::enable_shared_from_this<Creation> {
  CallPtr call;
  WriteOptions options;
  Json decoded;  // as the client sent it, normalised and defaulted
  int tries_left = 1;
  std::size_t warnings_before = 0;  // those of decoding, which are not given again

  void Try();
};

void Creation::Try() {
  --tries_left;
  call->warnings.resize(warnings_before);
  call->gate_notes.clear();
  // The last attempt needs no copy of the client's document, and nearly every create has one attempt.
  auto prepared = PrepareNew(*call, tries_left > 0 ? Json(decoded) : std::move(decoded),
                             OwnersOfNew(*call, options.field_manager));
  if (!prepared) return RespondError(call, prepared.status());
  StoreNew(call, std::move(*prepared), {.dry_run = options.dry_run},
           [self = shared_from_this()](const api::Object& existing) {
             if (self->tries_left > 0) return self->Try();
             RespondError(self->call, Exists(self->call->resource(), existing));
           });
}

api::Result<void> CheckIdentity(const Call& call, const Json& object) {
  std::string_view ns = api::StringAt(object, "metadata", "namespace");
  if (!ns.empty() && ns != call.route.ns)
    return api::BadRequest(
        "the namespace of the provided object does not match the namespace sent on the request");
  if (!api::StringAt(object, "metadata", "resourceVersion").empty())
    return api::GenericServerError("resourceVersion should not be set on objects to be created");
  return {};
}

}  // namespace

void ServeCreate(const CallPtr& call) {
  auto options = ParseWriteOptions(call->request, "CreateOptions");
  if (!options) return RespondError(call, options.status());
  auto object = DecodeBody(*call, BodyKindOf(call->resource()), options->field_validation);
  if (!object) return RespondError(call, object.status());
  ApplyAllDefaults(call->resource(), *object);
  std::string_view name = api::StringAt(*object, "metadata", "name");
  if (auto admitted = AdmitToNamespace(*call, name); !admitted) return RespondError(call, admitted.status());
  if (auto fine = CheckIdentity(*call, *object); !fine) return RespondError(call, fine.status());

  if (std::string node(api::StringAt(*object, "spec", "nodeName"));
      call->resource().storage == "pods" && !node.empty())
    CopyTopologyLabels(call->server, node, (*object)["metadata"]);

  auto creation = std::make_shared<Creation>();
  creation->call = call;
  creation->options = *options;
  if (name.empty() && !api::StringAt(*object, "metadata", "generateName").empty())
    creation->tries_left = kGenerateNameTries;
  if (const auto& warning_of = call->server.options.create_warning)
    if (std::string warning = warning_of(call->resource().storage); !warning.empty())
      call->warnings.push_back(std::move(warning));
  creation->warnings_before = call->warnings.size();
  creation->decoded = std::move(*object);
  creation->Try();
}

}  // namespace terrarium::apiserver
