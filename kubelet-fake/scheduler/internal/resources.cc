#include "kubelet-fake/scheduler/internal/resources.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "api/base/quantity.h"
#include "api/json_access.h"

namespace terrarium::kubelet_fake::scheduling {
namespace {

using api::Json;
using api::ListAt;
using api::ObjectAt;
using api::Quantity;

using Amounts = std::map<std::string, Quantity, std::less<>>;

const Amounts& ScoringDefaults() {
  static const Amounts defaults = {{"cpu", *Quantity::Parse("100m", nullptr)},
                                   {"memory", Quantity::FromInt(200 * 1024 * 1024)}};
  return defaults;
}

Amounts ReadAmounts(const Json& list) {
  Amounts out;
  for (const auto& [name, text] : list.items()) {
    if (!text.is_string()) continue;
    if (auto quantity = Quantity::Parse(text.get_ref<const std::string&>(), nullptr))
      out.emplace(name, *quantity);
  }
  return out;
}

void AddAll(Amounts& sum, const Amounts& more) {
  for (const auto& [name, amount] : more) {
    auto [it, added] = sum.emplace(name, amount);
    if (!added) it->second.Add(amount);
  }
}

void RaiseAll(Amounts& most, const Amounts& other) {
  for (const auto& [name, amount] : other) {
    auto [it, added] = most.emplace(name, amount);
    if (!added && it->second < amount) it->second = amount;
  }
}

// `otherwise` is used for missing requests.
Amounts ContainerRequests(const Json& container, const Amounts& otherwise) {
  Amounts out = ReadAmounts(ObjectAt(container, "resources", "requests"));
  out.insert(otherwise.begin(), otherwise.end());
  return out;
}

bool AtPodLevel(std::string_view resource) {
  return resource == "cpu" || resource == "memory" || resource.starts_with("hugepages-");
}

Amounts Total(const Json& spec, const Amounts& otherwise) {
  Amounts running;
  for (const Json& container : ListAt(spec, "containers"))
    AddAll(running, ContainerRequests(container, otherwise));
  Amounts sidecars, starting;
  for (const Json& container : ListAt(spec, "initContainers")) {
    Amounts step = ContainerRequests(container, otherwise);
    if (api::StringAt(container, "restartPolicy") == "Always") {
      AddAll(running, step);
      AddAll(sidecars, step);
      step = sidecars;
    } else {
      AddAll(step, sidecars);
    }
    RaiseAll(starting, step);
  }
  RaiseAll(running, starting);
  for (const auto& [name, amount] : ReadAmounts(ObjectAt(spec, "resources", "requests"))) {
    if (AtPodLevel(name)) running[name] = amount;
  }
  AddAll(running, ReadAmounts(ObjectAt(spec, "overhead")));
  return running;
}

// Names in a domain (nvidia.com/gpu, kubernetes.io/batteries), huge pages and volume attachments.
bool IsScalar(std::string_view resource) {
  if (resource.find('/') == std::string_view::npos) {
    return resource.starts_with("hugepages-") || resource.starts_with("attachable-volumes-");
  }
  return !resource.starts_with("requests.") || resource.find("kubernetes.io/") != std::string_view::npos;
}

Resources ToResources(const Amounts& amounts) {
  Resources out;
  for (const auto& [name, amount] : amounts) {
    if (name == "cpu") {
      out.milli_cpu = amount.MilliValue();
    } else if (name == "memory") {
      out.memory = amount.Value();
    } else if (name == "ephemeral-storage") {
      out.ephemeral_storage = amount.Value();
    } else if (IsScalar(name) && amount.Sign() != 0) {
      out.scalars.emplace_back(name, amount.Value());
    }
  }
  return out;
}

}  // namespace

void Resources::Add(const Resources& other) {
  milli_cpu += other.milli_cpu;
  memory += other.memory;
  ephemeral_storage += other.ephemeral_storage;
  for (const auto& [name, amount] : other.scalars) {
    auto it = std::lower_bound(scalars.begin(), scalars.end(), name,
                               [](const auto& scalar, const std::string& n) { return scalar.first < n; });
    if (it != scalars.end() && it->first == name) {
      it->second += amount;
    } else {
      scalars.emplace(it, name, amount);
    }
  }
}

void Resources::Subtract(const Resources& other) {
  milli_cpu -= other.milli_cpu;
  memory -= other.memory;
  ephemeral_storage -= other.ephemeral_storage;
  for (const auto& [name, amount] : other.scalars) {
    auto it = std::find_if(scalars.begin(), scalars.end(),
                           [&name = name](const auto& s) { return s.first == name; });
    if (it == scalars.end()) continue;
    it->second -= amount;
    if (it->second == 0) scalars.erase(it);
  }
}

std::int64_t Resources::Scalar(std::string_view name) const {
  for (const auto& [key, amount] : scalars) {
    if (key == name) return amount;
  }
  return 0;
}

PodRequests RequestsOf(const Json& pod_spec) {
  const Amounts total = Total(pod_spec, {});
  Amounts otherwise = ScoringDefaults();
  // Pod-level requests override the containers' requests.
  if (!ObjectAt(pod_spec, "resources", "requests").empty()) {
    std::erase_if(otherwise, [&](const auto& item) { return total.contains(item.first); });
  }
  const Resources scoring = ToResources(Total(pod_spec, otherwise));
  return {ToResources(total), scoring.milli_cpu, scoring.memory};
}

Allocatable AllocatableOf(const Json& node_status) {
  const Amounts amounts = ReadAmounts(ObjectAt(node_status, "allocatable"));
  const auto pods = amounts.find("pods");
  return {ToResources(amounts), pods == amounts.end() ? 0 : pods->second.Value()};
}

// mirrors balancedResourceScore() of plugins/noderesources/balanced_allocation.go, 1.36, for two resources.
std::int64_t EvennessOf(std::int64_t milli_cpu, std::int64_t memory, const Resources& allocatable) {
  if (allocatable.milli_cpu == 0 || allocatable.memory == 0) return 100;
  const auto used = [](std::int64_t amount, std::int64_t total) {
    return std::min(1.0, static_cast<double>(amount) / static_cast<double>(total));
  };
  const double deviation =
      std::abs((used(milli_cpu, allocatable.milli_cpu) - used(memory, allocatable.memory)) / 2);
  return static_cast<std::int64_t>((1 - deviation) * 100);
}

}  // namespace terrarium::kubelet_fake::scheduling
