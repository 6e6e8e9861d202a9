#include "controllers/horizontal_pod_autoscaler/internal/scale_target.h"

#include <algorithm>
#include <utility>

#include "api/base/errors.h"
#include "api/json_access.h"
#include "api/selector/label_selector.h"

namespace terrarium::controllers::autoscaler {
namespace {

using api::Result;

// A ReplicationController's selector is a plain map, the others' a LabelSelector.
std::string SelectorOf(const Json& object) {
  const Json* selector = api::Find(object, "spec", "selector");
  if (selector == nullptr) return "";
  const bool structured = selector->contains("matchLabels") || selector->contains("matchExpressions");
  if (!structured) return api::LabelSelector::FromMap(*selector).String();
  auto parsed = api::LabelSelector::FromDocument(selector);
  return parsed ? parsed->String() : "";
}

}  // namespace

Result<ScaleTarget> ReadScale(api::Client& client, const ServedResources& resources, const std::string& ns,
                              const TargetReference& reference, bool* bad_reference) {
  const std::string& version = reference.api_version;
  *bad_reference = std::count(version.begin(), version.end(), '/') > 1;
  if (*bad_reference) return api::GenericServerError("unexpected GroupVersion string: " + version);
  const std::size_t slash = version.find('/');
  const std::string group = slash == std::string::npos ? "" : version.substr(0, slash);
  const auto& all = resources.all();
  // The version does not matter.
  const auto found = std::find_if(all.begin(), all.end(), [&](const ServedResource& each) {
    return each.group == group && each.kind == reference.kind;
  });
  if (found == all.end())
    return api::GenericServerError("no matches for kind " + api::Quote(reference.kind) + " in group " +
                                   api::Quote(group));
  if (!found->scalable) return api::UnknownResource();
  ScaleTarget target;
  target.resource = found->Name();
  target.name = {ns, reference.name};
  return ReadScaleAgain(client, target);
}

Result<ScaleTarget> ReadScaleAgain(api::Client& client, const ScaleTarget& target) {
  Result<api::ObjectPtr> object = client.Get(target.resource, target.name);
  if (!object) return object.status();
  const auto document = (*object)->Document();
  ScaleTarget out{.resource = target.resource,
                  .name = target.name,
                  .resource_version = std::to_string((*object)->revision())};
  out.replicas = static_cast<int>(api::IntAt(*document, 0, "spec", "replicas"));
  out.selector = SelectorOf(*document);
  return out;
}

Json ScaleDocument(const ScaleTarget& target, int replicas) {
  return {{"metadata",
           {{"name", target.name.name},
            {"namespace", target.name.ns},
            {"resourceVersion", target.resource_version}}},
          {"spec", {{"replicas", replicas}}}};
}

}  // namespace terrarium::controllers::autoscaler
