#include <cstddef>
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "api/base/errors.h"
#include "api/base/field_error.h"
#include "api/core_v1/resource_list.h"
#include "api/json_access.h"
#include "apiserver/admission/internal/plugins.h"

namespace terrarium::apiserver::admission {
namespace {

using api::ListAt;
using api::ObjectAt;
using api::Quantity;
using api::ResourceList;
using api::StringAt;

constexpr const char* kAnnotation = "kubernetes.io/limit-ranger";

// Requests and limits of a container, a pod or a claim.
struct Usage {
  ResourceList requests;
  ResourceList limits;
};

const Quantity* Amount(const ResourceList& list, const std::string& name) {
  auto found = list.find(name);
  return found == list.end() ? nullptr : &found->second;
}

// Errors as Go prints an aggregate of them: each one once.
class Errors {
 public:
  void Add(std::string error) {
    if (text_.size() > api::kRepeatedTextMax || !seen_.insert(error).second) return;
    text_.append(seen_.size() > 1 ? ", " : "").append(error);
  }
  std::string Joined() const { return seen_.size() > 1 ? "[" + text_ + "]" : text_; }

 private:
  std::set<std::string> seen_;
  std::string text_;
};

// The checks of one item of a LimitRange; collects what breaks it.
class Rules {
 public:
  Rules(const Json& item, Errors& errors)
      : type_(StringAt(item, "type")),
        min_(api::ReadResourceList(ObjectAt(item, "min"))),
        max_(api::ReadResourceList(ObjectAt(item, "max"))),
        ratios_(api::ReadResourceList(ObjectAt(item, "maxLimitRequestRatio"))),
        errors_(errors) {}

  void CheckAll(const Usage& usage) {
    CheckMin(usage);
    for (const auto& [name, bound] : max_) {
      const Quantity* limit = Amount(usage.limits, name);
      const Quantity* request = Amount(usage.requests, name);
      if (limit == nullptr)
        Add("maximum", name, bound, ".  No limit is specified");
      else if (*limit > bound)
        Add("maximum", name, bound, ", but limit is " + limit->ToString());
      else if (request != nullptr && *request > bound)
        Add("maximum", name, bound, ", but request is " + request->ToString());
    }
    for (const auto& [name, bound] : ratios_) CheckRatio(name, bound, usage);
  }

  // Claims have requests alone.
  void CheckRequests(const Usage& usage) {
    CheckMin(usage);
    for (const auto& [name, bound] : max_) {
      const Quantity* request = Amount(usage.requests, name);
      if (request == nullptr)
        Add("maximum", name, bound, ".  No request is specified");
      else if (*request > bound)
        Add("maximum", name, bound, ", but request is " + request->ToString());
    }
  }

 private:
  void Add(const char* what, const std::string& name, const Quantity& bound, const std::string& rest) {
    errors_.Add(std::string(what) + " " + name + " usage per " + type_ + " is " + bound.ToString() + rest);
  }

  void CheckMin(const Usage& usage) {
    for (const auto& [name, bound] : min_) {
      const Quantity* request = Amount(usage.requests, name);
      const Quantity* limit = Amount(usage.limits, name);
      if (request == nullptr)
        Add("minimum", name, bound, ".  No request is specified");
      else if (*request < bound)
        Add("minimum", name, bound, ", but request is " + request->ToString());
      else if (limit != nullptr && *limit < bound)
        Add("minimum", name, bound, ", but limit is " + limit->ToString());
    }
  }

  void CheckRatio(const std::string& name, const Quantity& bound, const Usage& usage) {
    const std::string prefix =
        name + " max limit to request ratio per " + type_ + " is " + bound.ToString() + ", but ";
    const Quantity* request = Amount(usage.requests, name);
    const Quantity* limit = Amount(usage.limits, name);
    if (request == nullptr || request->Sign() == 0) {
      errors_.Add(prefix + "no request is specified or request is 0");
    } else if (limit == nullptr || limit->Sign() == 0) {
      errors_.Add(prefix + "no limit is specified or limit is 0");
    } else {
      const double ratio =
          static_cast<double>(limit->MilliValue()) / static_cast<double>(request->MilliValue());
      if (ratio * 1000 <= static_cast<double>(bound.MilliValue())) return;
      char text[64];
      std::snprintf(text, sizeof text, "%f", ratio);
      errors_.Add(prefix + "provided ratio is " + text);
    }
  }

  std::string type_;
  ResourceList min_;
  ResourceList max_;
  ResourceList ratios_;
  Errors& errors_;
};

Usage ResourcesOf(const Json& holder) {
  return {api::ReadResourceList(ObjectAt(holder, "resources", "requests")),
          api::ReadResourceList(ObjectAt(holder, "resources", "limits"))};
}

// The sum of the containers. Resources that the pod itself states take their place.
Usage PodUsage(const Json& spec) {
  Usage usage = {api::ContainersTotal(spec, "requests"), api::ContainersTotal(spec, "limits")};
  const Usage own = ResourcesOf(spec);
  for (const auto& [name, amount] : own.requests) usage.requests[name] = amount;
  for (const auto& [name, amount] : own.limits) usage.limits[name] = amount;
  return usage;
}

// A pod and a LimitRange may be as large as any object, and each amount concerns each container.
constexpr std::size_t kComparisonsMax = 1'000'000;

std::size_t Comparisons(const Json& limit_range, const Json& pod) {
  std::size_t containers = 1;
  for (const char* list : {"containers", "initContainers"}) containers += ListAt(pod, "spec", list).size();
  std::size_t amounts = 0;
  for (const Json& item : ListAt(limit_range, "spec", "limits"))
    for (const char* list : {"default", "defaultRequest", "max", "maxLimitRequestRatio", "min"})
      amounts += ObjectAt(item, list).size();
  return containers * amounts;
}

// Adds the missing amounts and returns their names, comma separated.
std::string Fill(Json& container, const char* list, const Json& defaults) {
  std::string names;
  for (const auto& [name, amount] : defaults.items()) {
    if (api::Find(container, "resources", list, name) != nullptr) continue;
    container["resources"][list][std::string(name)] = amount;
    names.append(names.empty() ? "" : ", ").append(name);
  }
  return names;
}

bool IsPod(const Call& call) { return call.resource().storage == "pods"; }

}  // namespace

void ApplyLimitRangeDefaults(const Json& limit_range, Json& pod) {
  Json limits = Json::object(), requests = Json::object();
  for (const Json& item : ListAt(limit_range, "spec", "limits")) {
    if (StringAt(item, "type") != "Container") continue;
    for (const auto& [name, amount] : ObjectAt(item, "default").items()) limits[std::string(name)] = amount;
    for (const auto& [name, amount] : ObjectAt(item, "defaultRequest").items())
      requests[std::string(name)] = amount;
  }
  std::string set;
  auto note = [&](const std::string& names, const char* what, const char* kind, const Json& container) {
    if (names.empty()) return;
    set.append(set.empty() ? "" : "; ").append(names).append(what).append(kind);
    set.append(StringAt(container, "name"));
  };
  for (const auto& [list, kind] :
       {std::pair{"containers", "container "}, std::pair{"initContainers", "init container "}}) {
    if (ListAt(pod, "spec", list).empty()) continue;
    for (Json& container : pod["spec"][list]) {
      const std::string set_limits = Fill(container, "limits", limits);
      note(Fill(container, "requests", requests), " request for ", kind, container);
      note(set_limits, " limit for ", kind, container);
    }
  }
  if (!set.empty()) pod["metadata"]["annotations"][kAnnotation] = "LimitRanger plugin set: " + set;
}

std::string LimitRangeVerdict(const Json& limit_range, bool is_pod, const Json& object) {
  Errors errors;
  const Json& spec = ObjectAt(object, "spec");
  for (const Json& item : ListAt(limit_range, "spec", "limits")) {
    const std::string_view type = StringAt(item, "type");
    Rules rules(item, errors);
    if (is_pod && type == "Container") {
      for (const char* list : {"containers", "initContainers"})
        for (const Json& container : ListAt(spec, list)) rules.CheckAll(ResourcesOf(container));
    } else if (is_pod && type == "Pod") {
      rules.CheckAll(PodUsage(spec));
    } else if (!is_pod && type == "PersistentVolumeClaim") {
      rules.CheckRequests({ResourcesOf(spec).requests, {}});
    }
  }
  return errors.Joined();
}

api::Result<void> SetContainerDefaults(const Call& call, Json& object) {
  if (!IsPod(call)) return {};
  std::size_t comparisons = 0;
  for (const api::ObjectPtr& limit_range : StoredObjects(call, "limitranges", call.route.ns)) {
    const std::shared_ptr<const Json> document = limit_range->Document();
    comparisons += Comparisons(*document, object);
    if (comparisons > kComparisonsMax)
      return api::RequestTooLarge("the pod has too many containers for the LimitRanges of its namespace");
    ApplyLimitRangeDefaults(*document, object);
  }
  return {};
}

api::Result<void> CheckLimitRanges(const Call& call, const Json& object, const Json* old) {
  const bool is_pod = IsPod(call);
  if (!is_pod && call.resource().storage != "persistentvolumeclaims") return {};
  // Resources of a pod cannot change, and what is being deleted is left alone.
  if (old != nullptr && (is_pod || api::Find(*old, "metadata", "deletionTimestamp") != nullptr)) return {};
  for (const api::ObjectPtr& limit_range : StoredObjects(call, "limitranges", call.route.ns))
    if (std::string why = LimitRangeVerdict(*limit_range->Document(), is_pod, object); !why.empty())
      return Refusal(call, object, why);
  return {};
}

}  // namespace terrarium::apiserver::admission
