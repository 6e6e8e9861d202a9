#include <utility>

#include "api/codec/yaml.h"
#include "api/json_access.h"
#include "apiserver/resource_registry.h"
#include "testbed/embedding/manifests.h"
#include "testbed/scenario/field_check.h"
#include "testbed/scenario/run.h"
#include "testbed/scenario/shapes.h"
#include "testbed/scenario/target.h"

namespace terrarium::testbed::scenario {
namespace {

using api::YamlPathBelow;
using apiserver::ResourceInfo;

std::string PathOf(const ResourceInfo& resource, const std::string& ns, const std::string& name) {
  std::string path = resource.group.empty() ? "/api/" : "/apis/" + std::string(resource.group) + "/";
  path += resource.version;
  if (resource.namespaced) path += "/namespaces/" + ns;
  path += "/" + std::string(resource.plural);
  return name.empty() ? path : path + "/" + name;
}

std::string PathOf(const ObjectTarget& target, const std::string& name) {
  return PathOf(target.resource(), target.ns(), name);
}

StepOutcome OutcomeOf(const api::Result<Json>& answer) {
  return answer ? StepOutcome::Fine() : StepOutcome::Refused(answer.status());
}

// Does `act` to the named object, or to each of those selected, up to the first that is refused.
StepOutcome ToEach(Run& run, const ObjectTarget& target,
                   const std::function<StepOutcome(const std::string& name)>& act) {
  if (!target.name().empty()) return act(target.name());
  const std::vector<api::ObjectPtr> selected = target.Select(run.bed());
  if (selected.empty()) return StepOutcome::Failed("there are no " + target.String());
  for (const api::ObjectPtr& object : selected)
    if (StepOutcome outcome = act(object->header().name); outcome.refused || outcome.failed) return outcome;
  return StepOutcome::Fine();
}

std::vector<const Json*> ManifestsIn(const Json& value) {
  std::vector<const Json*> out;
  if (value.is_object())
    out.push_back(&value);
  else
    for (const Json& each : value) out.push_back(&each);
  return out;
}

// Unknown fields are found where they stand, unless the server's own words about them are what the step is
// about.
void CheckManifests(const StepDraft& step, Mistakes& mistakes) {
  const std::string verb(FindStep(step.document)->verb);
  const Json& value = step.document[verb];
  const std::string path = YamlPathBelow(step.path, verb);
  std::size_t index = 0;
  for (const Json* manifest : ManifestsIn(value)) {
    const std::string its_path = value.is_array() ? YamlPathBelow(path, std::to_string(index++)) : path;
    if (!step.document.contains("refused"))
      CheckFields(*ResourceOfManifest(*manifest), *manifest, its_path, FieldUse::kManifest, mistakes);
    const bool named = !api::StringAt(*manifest, "metadata", "name").empty();
    const bool generated = verb == "create" && !api::StringAt(*manifest, "metadata", "generateName").empty();
    if (!named && !generated) mistakes.push_back({its_path, "the object needs a metadata.name"});
  }
}

std::string NamespaceOf(const ResourceInfo& resource, const Json& manifest, const Json& step) {
  if (!resource.namespaced) return "";
  if (std::string_view own = api::StringAt(manifest, "metadata", "namespace"); !own.empty())
    return std::string(own);
  return step.contains("namespace") ? step["namespace"].get<std::string>() : "default";
}

api::Result<Json> CreateOne(Run& run, const Json& manifest, const Json& step) {
  const ResourceInfo& resource = *ResourceOfManifest(manifest);
  return run.Send("POST", PathOf(resource, NamespaceOf(resource, manifest, step), ""), manifest);
}

api::Result<Json> ApplyOne(Run& run, const Json& manifest, const Json& step) {
  ApplyOptions options;
  if (step.contains("namespace")) options.ns = step["namespace"].get<std::string>();
  auto applied =
      ApplyManifest(manifest, options, *run.bed().control_plane().handler().registry().Table(),
                    [&run](apiserver::Request request) { return run.bed().Serve(std::move(request)); });
  if (!applied) return applied.status();
  return Json();
}

template <api::Result<Json> (*act)(Run&, const Json&, const Json&)>
StepOutcome EachManifest(Run& run, const Json& step) {
  for (const Json* manifest : ManifestsIn(step[std::string(FindStep(step)->verb)]))
    if (auto done = act(run, *manifest, step); !done) return StepOutcome::Refused(done.status());
  return StepOutcome::Fine();
}

// A subresource that a step may name; none for the object itself.
std::string Below(const Json& step) {
  return step.contains("subresource") ? "/" + step["subresource"].get<std::string>() : "";
}

const Members& PatchKeys() {
  static const Shape with{.type = Shape::Type::kEither,
                          .is = "a patch: a mapping, or a list of operations for type json",
                          .choices = {&AnyObject(), [] {
                                        static const Shape operations{.type = Shape::Type::kList,
                                                                      .is = "operations",
                                                                      .of = &AnyObject()};
                                        return &operations;
                                      }()}};
  static const Shape type{
      .type = Shape::Type::kText, .is = "a type of patch", .words = {"strategic", "merge", "json"}};
  static const Members members{
      {"with", with, "the patch", true},
      {"type", type, "strategic by default"},
      {"subresource", AnyText(), "status, scale, ...: what of the object to patch"},
  };
  return members;
}

void CheckPatch(const StepDraft& step, Mistakes& mistakes) {
  CheckTarget(step.document, "patch", step.path, "", mistakes);
  const bool operations = api::StringAt(step.document, "type") == "json";
  if (step.document["with"].is_array() != operations)
    return mistakes.push_back(
        {YamlPathBelow(step.path, "with"), operations ? "a patch of type json is a list of operations"
                                                      : "a list of operations is a patch of type json"});
  auto target = ParseKindAndName(step.document["patch"].get_ref<const std::string&>());
  const std::string_view below = api::StringAt(step.document, "subresource");
  if (!operations && !step.document.contains("refused") && (below.empty() || below == "status"))
    CheckFields(*target->resource, step.document["with"], YamlPathBelow(step.path, "with"), FieldUse::kPatch,
                mistakes);
}

StepOutcome Patch(Run& run, const Json& step) {
  const std::string_view type = api::StringAt(step, "type");
  const std::string media = type == "json"    ? "application/json-patch+json"
                            : type == "merge" ? "application/merge-patch+json"
                                              : "application/strategic-merge-patch+json";
  ObjectTarget target = ObjectTarget::Of(step, "patch");
  return ToEach(run, target, [&](const std::string& name) {
    return OutcomeOf(run.Send("PATCH", PathOf(target, name) + Below(step), step["with"], media));
  });
}

const Members& ScaleKeys() {
  static const Shape replicas{.type = Shape::Type::kInteger, .is = "a whole number"};
  static const Members members{{"replicas", replicas, "how many there are to be", true}};
  return members;
}

void CheckScale(const StepDraft& step, Mistakes& mistakes) {
  CheckTarget(step.document, "scale", step.path, "", mistakes);
  auto target = ParseKindAndName(step.document["scale"].get_ref<const std::string&>());
  if (target->resource->Subresource("scale") == nullptr)
    mistakes.push_back(
        {YamlPathBelow(step.path, "scale"), std::string(target->resource->plural) + " cannot be scaled"});
}

StepOutcome Scale(Run& run, const Json& step) {
  ObjectTarget target = ObjectTarget::Of(step, "scale");
  const Json patch = {{"spec", {{"replicas", step["replicas"]}}}};
  return ToEach(run, target, [&](const std::string& name) {
    return OutcomeOf(
        run.Send("PATCH", PathOf(target, name) + "/scale", patch, "application/merge-patch+json"));
  });
}

const Members& DeleteKeys() {
  static const Shape policy{.type = Shape::Type::kText,
                            .is = "a propagation policy",
                            .words = {"Background", "Foreground", "Orphan"}};
  static const Members members{
      {"gracePeriodSeconds", NotNegative(), "instead of the object's own"},
      {"propagationPolicy", policy, "what becomes of what it owns; Background by default, as with kubectl"},
  };
  return members;
}

template <const char* const& verb>
void CheckTargetOf(const StepDraft& step, Mistakes& mistakes) {
  CheckTarget(step.document, verb, step.path, "", mistakes);
}

constexpr const char* kDelete = "delete";

StepOutcome Delete(Run& run, const Json& step) {
  Json options = {{"apiVersion", "v1"}, {"kind", "DeleteOptions"}, {"propagationPolicy", "Background"}};
  for (const char* key : {"gracePeriodSeconds", "propagationPolicy"})
    if (step.contains(key)) options[key] = step[key];
  ObjectTarget target = ObjectTarget::Of(step, "delete");
  return ToEach(run, target, [&](const std::string& name) {
    return OutcomeOf(run.Send("DELETE", PathOf(target, name), options));
  });
}

void CheckEvict(const StepDraft& step, Mistakes& mistakes) {
  CheckTarget(step.document, "evict", step.path, "pods", mistakes);
}

StepOutcome Evict(Run& run, const Json& step) {
  ObjectTarget target = ObjectTarget::Of(step, "evict");
  return ToEach(run, target, [&](const std::string& name) {
    const Json eviction = {{"apiVersion", "policy/v1"},
                           {"kind", "Eviction"},
                           {"metadata", {{"name", name}, {"namespace", target.ns()}}}};
    return OutcomeOf(run.Send("POST", PathOf(target, name) + "/eviction", eviction));
  });
}

}  // namespace

std::span<const StepDef> ObjectSteps() {
  static const std::vector<StepDef> steps{
      {"apply",
       "create or change objects, as kubectl apply: one manifest or a list of them",
       Manifests(),
       {&NamespaceMember()},
       CheckManifests,
       EachManifest<ApplyOne>,
       true},
      {"create",
       "create objects, as kubectl create",
       Manifests(),
       {&NamespaceMember()},
       CheckManifests,
       EachManifest<CreateOne>,
       true},
      {"patch", "patch objects", Target(), {&ActingMembers(), &PatchKeys()}, CheckPatch, Patch, true},
      {"scale",
       "set replicas through the scale subresource",
       Target(),
       {&ActingMembers(), &ScaleKeys()},
       CheckScale,
       Scale,
       true},
      {"delete",
       "delete objects",
       Target(),
       {&ActingMembers(), &DeleteKeys()},
       CheckTargetOf<kDelete>,
       Delete,
       true},
      {"evict",
       "evict pods through the Eviction API, which respects disruption budgets",
       Target(),
       {&ActingMembers()},
       CheckEvict,
       Evict,
       true},
  };
  return steps;
}

}  // namespace terrarium::testbed::scenario
