#include <optional>

#include "api/json_access.h"
#include "apiserver/admission/internal/plugins.h"
#include "apiserver/system_priority_classes.h"

namespace terrarium::apiserver::admission {
namespace {

constexpr const char* kResource = "priorityclasses";

struct Priority {
  std::string name;
  std::int64_t value = 0;
  std::string preemption_policy = "PreemptLowerPriority";
};

Priority PriorityOf(const Json& priority_class) {
  return {std::string(api::StringAt(priority_class, "metadata", "name")),
          api::IntAt(priority_class, 0, "value"),
          std::string(api::StringAt(priority_class, "preemptionPolicy"))};
}

// The class for pods that name none. If a race has made several, the one with the lowest value.
std::optional<Priority> GlobalDefault(const Call& call) {
  std::optional<Priority> found;
  for (const api::ObjectPtr& object : StoredObjects(call, kResource, "")) {
    const auto document = object->Document();
    if (!api::BoolAt(*document, "globalDefault")) continue;
    Priority priority = PriorityOf(*document);
    if (!found || priority.value < found->value) found = std::move(priority);
  }
  return found;
}

std::optional<Priority> Named(const Call& call, const std::string& name) {
  if (api::ObjectPtr object = call.server.store.Get({kResource, "", name}))
    return PriorityOf(*object->Document());
  // Kubernetes creates its own classes again when they are deleted.
  for (const SystemPriorityClass& known : kSystemPriorityClasses)
    if (known.name == name) return Priority{name, known.value};
  return std::nullopt;
}

}  // namespace

api::Result<void> ResolvePriority(const Call& call, Json& object) {
  if (call.resource().storage != "pods") return {};
  Json& spec = object["spec"];
  if (!spec.is_object()) spec = Json::object();
  const std::string name(api::StringAt(spec, "priorityClassName"));
  std::optional<Priority> priority = name.empty() ? GlobalDefault(call) : Named(call, name);
  if (!priority && !name.empty())
    return Refusal(call, object, "no PriorityClass with name " + name + " was found");
  if (!priority) priority.emplace();

  const Json* given = api::Find(spec, "priority");
  if (given != nullptr && *given != priority->value)
    return Refusal(call, object,
                   "the integer value of priority (" + given->dump() +
                       ") must not be provided in pod spec; priority admission controller computed " +
                       std::to_string(priority->value) + " from the given PriorityClass name");
  const std::string policy(api::StringAt(spec, "preemptionPolicy"));
  if (!policy.empty() && policy != priority->preemption_policy)
    return Refusal(call, object,
                   "the string value of PreemptionPolicy (" + policy +
                       ") must not be provided in pod spec; priority admission controller computed " +
                       priority->preemption_policy + " from the given PriorityClass name");
  if (!priority->name.empty()) spec["priorityClassName"] = priority->name;
  spec["priority"] = priority->value;
  spec["preemptionPolicy"] = priority->preemption_policy;
  return {};
}

api::Result<void> CheckPriorityClass(const Call& call, const Json& object, const Json* old) {
  if (call.resource().storage != kResource || !api::BoolAt(object, "globalDefault")) return {};
  const std::optional<Priority> current = GlobalDefault(call);
  if (!current || (old != nullptr && current->name == api::StringAt(object, "metadata", "name"))) return {};
  return Refusal(
      call, object,
      "PriorityClass " + current->name + " is already marked as default. Only one default can exist");
}

}  // namespace terrarium::apiserver::admission
