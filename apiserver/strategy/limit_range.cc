#include <algorithm>
#include <cstdio>
#include <set>

#include "api/core_v1/resource_list.h"
#include "apiserver/strategies.h"
#include "apiserver/strategy/internal/plain_kind.h"
#include "apiserver/validation/shared_fields.h"

namespace terrarium::apiserver {
namespace {

using namespace strategy;  // NOLINT: the helpers of this folder
using api::Quantity;
using api::ResourceList;

// Copies the amounts of `from` that `to` does not have, in one pass.
void FillFrom(Json& to, const Json& from) {
  Json::object_t::container added;
  for (auto it = from.begin(); it != from.end(); ++it)
    if (!to.contains(it.key())) added.emplace_back(it.key(), it.value());
  to.get_ref<Json::object_t&>().AddSorted(std::move(added));
}

// The lists of one item.
struct Limits {
  ResourceList max;
  ResourceList min;
  ResourceList defaults;
  ResourceList default_requests;
  ResourceList ratios;

  explicit Limits(const Json& item)
      : max(api::ReadResourceList(ObjectAt(item, "max"))),
        min(api::ReadResourceList(ObjectAt(item, "min"))),
        defaults(api::ReadResourceList(ObjectAt(item, "default"))),
        default_requests(api::ReadResourceList(ObjectAt(item, "defaultRequest"))),
        ratios(api::ReadResourceList(ObjectAt(item, "maxLimitRequestRatio"))) {}
};

const Quantity* Amount(const ResourceList& list, std::string_view name) {
  auto found = list.find(name);
  return found == list.end() ? nullptr : &found->second;
}

bool Exceeds(const Quantity* a, const Quantity* b) { return a != nullptr && b != nullptr && *a > *b; }

// One amount of an item in the wrong relation to another.
class Relations {
 public:
  Relations(const std::string& resource, const Path& path, FieldErrors& errors)
      : resource_(resource), path_(path), errors_(errors) {}

  void Report(std::string_view list, const Quantity& shown, const std::string& why) {
    errors_.push_back(api::InvalidError(path_.Child(list).Key(resource_), shown.ToString(), why));
  }
  // Requires a <= b.
  void Order(const Quantity* a, std::string_view a_name, const Quantity* b, std::string_view b_name,
             std::string_view list, const Quantity* shown) {
    if (!Exceeds(a, b)) return;
    Report(list, *shown,
           std::string(a_name) + " " + a->ToString() + " is greater than " + std::string(b_name) + " " +
               b->ToString());
  }

 private:
  const std::string& resource_;
  const Path& path_;
  FieldErrors& errors_;
};

// As Go's %f prints it.
std::string FixedText(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%f", value);
  return text;
}

void CheckRatio(const Quantity& ratio, const Quantity* min, const Quantity* max, Relations& relations) {
  if (ratio < Quantity::FromInt(1))
    relations.Report("maxLimitRequestRatio", ratio, "ratio " + ratio.ToString() + " is less than 1");
  if (min == nullptr || max == nullptr) return;
  const double allowed = static_cast<double>(max->MilliValue()) / static_cast<double>(min->MilliValue());
  if (static_cast<double>(ratio.MilliValue()) / 1000 > allowed)
    relations.Report("maxLimitRequestRatio", ratio,
                     "ratio " + ratio.ToString() + " is greater than max/min = " + FixedText(allowed));
}

void CheckRelations(const Limits& limits, const std::string& name, const Path& path, FieldErrors& errors) {
  const Quantity* min = Amount(limits.min, name);
  const Quantity* max = Amount(limits.max, name);
  const Quantity* limit = Amount(limits.defaults, name);
  const Quantity* request = Amount(limits.default_requests, name);
  Relations relations(name, path, errors);
  relations.Order(min, "min value", max, "max value", "min", min);
  relations.Order(min, "min value", request, "default request value", "defaultRequest", request);
  relations.Order(request, "default request value", max, "max value", "defaultRequest", request);
  relations.Order(request, "default request value", limit, "default limit value", "defaultRequest", request);
  relations.Order(min, "min value", limit, "default value", "default", min);
  relations.Order(limit, "default value", max, "max value", "default", max);
  if (const Quantity* ratio = Amount(limits.ratios, name)) CheckRatio(*ratio, min, max, relations);
  if (!pod_rules::IsOvercommitAllowed(name) && limit != nullptr && request != nullptr && *limit != *request)
    relations.Report("defaultRequest", *request,
                     "default value " + limit->ToString() + " must equal to defaultRequest value " +
                         request->ToString() + " in " + name);
}

void CheckType(std::string_view type, const Path& path, FieldErrors& errors) {
  const Messages messages = IsQualifiedName(type);
  AddInvalid(messages, type, path, errors);
  if (!messages.empty() || type.find('/') != std::string_view::npos) return;
  if (type != "Pod" && type != "Container" && type != "PersistentVolumeClaim")
    errors.push_back(api::InvalidError(path, type, "must be a standard limit type or fully qualified"));
}

void CheckItem(const Json& item, const Path& path, FieldErrors& errors) {
  const std::string_view type = StringAt(item, "type");
  const bool of_pods = type == "Pod";
  const bool of_containers = of_pods || type == "Container";
  Limits limits(item);
  std::set<std::string> names;
  auto check_names = [&](const char* list) {
    for (const auto& [name, amount] : ObjectAt(item, list).items()) {
      pod_rules::CheckLimitedResource(name, of_containers, path.Child(list).Key(name), errors);
      names.insert(std::string(name));
    }
  };
  check_names("max");
  check_names("min");
  for (const char* list : {"default", "defaultRequest"}) {
    if (!of_pods)
      check_names(list);
    else if (!ObjectAt(item, list).empty())
      errors.push_back(api::ForbiddenError(path.Child(list), "may not be specified when `type` is 'Pod'"));
  }
  if (of_pods) limits.defaults = limits.default_requests = {};
  if (type == "PersistentVolumeClaim" && !limits.min.contains("storage") && !limits.max.contains("storage"))
    errors.push_back(
        api::RequiredError(path.Child("limits"),
                           "either minimum or maximum storage value is required, but neither was provided"));
  check_names("maxLimitRequestRatio");
  for (const std::string& name : names) CheckRelations(limits, name, path, errors);
}

class LimitRange final : public PlainKind {
 public:
  LimitRange() : PlainKind({.create_on_update = true}) {}

  void Default(Json& object) const override {
    if (ListAt(object, "spec", "limits").empty()) return;
    for (Json& item : object["spec"]["limits"]) {
      if (StringAt(item, "type") != "Container") continue;
      Json defaults = ObjectAt(item, "default");
      FillFrom(defaults, ObjectAt(item, "max"));
      Json requests = ObjectAt(item, "defaultRequest");
      FillFrom(requests, defaults);
      FillFrom(requests, ObjectAt(item, "min"));
      if (!defaults.empty()) item["default"] = std::move(defaults);
      if (!requests.empty()) item["defaultRequest"] = std::move(requests);
    }
  }

 private:
  void Check(const Json& object, const Json* /*old*/, FieldErrors& errors) const override {
    const Path path("spec.limits");
    const Json& limits = ListAt(object, "spec", "limits");
    std::set<std::string_view> types;
    for (std::size_t i = 0; i < limits.size(); ++i) {
      const std::string_view type = StringAt(limits[i], "type");
      CheckType(type, path.Index(i).Child("type"), errors);
      if (!types.insert(type).second)
        errors.push_back(api::DuplicateError(path.Index(i).Child("type"), type));
      CheckItem(limits[i], path.Index(i), errors);
    }
  }
};

}  // namespace

const Strategy& LimitRangeStrategy() {
  static const LimitRange strategy;
  return strategy;
}

}  // namespace terrarium::apiserver
