#include <utility>

#include "api/base/errors.h"
#include "api/json_access.h"
#include "api/selector/label_selector.h"
#include "apiserver/internal/body.h"
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

Result<Change> ChangeReplicas(Call& call, const Json& scale, const api::Object& current, const Json& old) {
  if (auto fine = CheckNames(call, scale); !fine) return fine.status();
  std::int64_t replicas = api::IntAt(scale, 0, "spec", "replicas");
  if (FieldErrors errors = ValidateNonnegative(replicas, Path("spec.replicas")); !errors.empty())
    return api::Invalid({"autoscaling", "Scale"}, call.route.name, errors);
  if (auto fine = CheckVersion(call, scale, current); !fine) return fine.status();
  Json object = old;
  object["spec"]["replicas"] = replicas;
  return Replace(call, std::move(object), old);
}

void RespondScale(const CallPtr& call, const api::Object& object) {
  RespondDocument(call, 200, MakeScale(call->resource(), object.Parse()),
                  BodyKindOf(*call->route.subresource).schema);
}

void ChangeScale(const CallPtr& call, bool dry_run,
                 std::function<Result<Json>(const Json& scale)> next_scale) {
  ChangeObject(
      call, OwnTarget(*call, dry_run),
      [call, next_scale = std::move(next_scale)](const api::ObjectPtr& current,
                                                 const Json& old) -> Result<Change> {
        auto scale = next_scale(MakeScale(call->resource(), old));
        if (!scale) return scale.status();
        return ChangeReplicas(*call, *scale, *current, old);
      },
      [call](Result<Changed> changed) {
        if (!changed) return RespondError(call, changed.status());
        RespondScale(call, *changed->object);
      });
}

void PutScale(const CallPtr& call) {
  auto options = ParseWriteOptions(call->request, "UpdateOptions");
  if (!options) return RespondError(call, options.status());
  auto scale = DecodeBody(*call, BodyKindOf(*call->route.subresource), options->field_validation);
  if (!scale) return RespondError(call, scale.status());
  ChangeScale(call, options->dry_run,
              [scale = std::move(*scale)](const Json&) -> Result<Json> { return scale; });
}

void PatchScale(const CallPtr& call) {
  auto options = ParseWriteOptions(call->request, "PatchOptions");
  if (!options) return RespondError(call, options.status());
  auto patch = ParsePatch(*call);
  if (!patch) return RespondError(call, patch.status());
  ChangeScale(call, options->dry_run,
              [call, patch = std::move(*patch), validation = options->field_validation](const Json& scale) {
                ExpectedKind kind = BodyKindOf(*call->route.subresource);
                auto patched = ApplyPatch(patch, kind.schema, scale);
                if (!patched) return patched;
                return DecodePatched(*call, std::move(*patched), kind, validation);
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
