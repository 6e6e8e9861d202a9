#include "api/core_v1/resource_list.h"

#include "api/json_access.h"

namespace terrarium::api {
namespace {

bool IsPodLevelResource(std::string_view name) {
  return name == "cpu" || name == "memory" || IsHugePageResource(name);
}

}  // namespace

ResourceList ReadResourceList(const Json& list) {
  ResourceList out;
  std::string error;
  for (const auto& [name, text] : list.items()) {
    if (!text.is_string()) continue;
    out.emplace(name, Quantity::Parse(text.get_ref<const std::string&>(), &error).value_or(Quantity()));
  }
  return out;
}

Json WriteResourceList(const ResourceList& list) {
  Json out = Json::object();
  for (const auto& [name, amount] : list) out[name] = amount.ToString();
  return out;
}

void AddTo(ResourceList& total, const ResourceList& more) {
  for (const auto& [name, amount] : more) total[name].Add(amount);
}

void TakeFrom(ResourceList& total, const ResourceList& less) {
  for (const auto& [name, amount] : less) {
    const auto it = total.find(name);
    if (it == total.end()) continue;
    it->second.Sub(amount);
    if (it->second.Sign() < 0) it->second = Quantity();
  }
}

void RaiseTo(ResourceList& total, const ResourceList& floor) {
  for (const auto& [name, amount] : floor) {
    const auto it = total.find(name);
    if (it == total.end() || it->second < amount) total.insert_or_assign(name, amount);
  }
}

bool IsHugePageResource(std::string_view name) { return name.starts_with("hugepages-"); }

ResourceList ContainersTotal(const Json& pod_spec, std::string_view list) {
  ResourceList running;
  for (const Json& container : ListAt(pod_spec, "containers"))
    AddTo(running, ReadResourceList(ObjectAt(container, "resources", list)));
  ResourceList sidecars;
  ResourceList starting;
  for (const Json& container : ListAt(pod_spec, "initContainers")) {
    ResourceList moment = ReadResourceList(ObjectAt(container, "resources", list));
    if (StringAt(container, "restartPolicy") == "Always") {
      AddTo(running, moment);
      AddTo(sidecars, moment);
      RaiseTo(starting, sidecars);
    } else {
      AddTo(moment, sidecars);
      RaiseTo(starting, moment);
    }
  }
  RaiseTo(running, starting);
  return running;
}

ResourceList PodTotal(const Json& pod_spec, std::string_view list) {
  ResourceList total = ContainersTotal(pod_spec, list);
  for (const auto& [name, amount] : ReadResourceList(ObjectAt(pod_spec, "resources", list)))
    if (IsPodLevelResource(name)) total.insert_or_assign(name, amount);
  for (const auto& [name, amount] : ReadResourceList(ObjectAt(pod_spec, "overhead"))) {
    // A pod that is not limited does not become so by its overhead.
    const auto it = total.find(name);
    if (list == "limits" && (it == total.end() || it->second.Sign() == 0)) continue;
    total[name].Add(amount);
  }
  return total;
}

}  // namespace terrarium::api
