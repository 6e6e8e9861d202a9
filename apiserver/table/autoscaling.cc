// How HorizontalPodAutoscalers and the metrics that they read are printed.

#include "api/core_v1/resource_list.h"
#include "api/json_access.h"
#include "apiserver/strategy/autoscaler_conversion.h"
#include "apiserver/table/internal/printer.h"

namespace terrarium::apiserver::table {
namespace {

using api::Json;

constexpr Column kColumns[] = {
    kNameColumn,
    {"Reference", "string", "", "The object that is scaled."},
    {"Targets", "string", "", "Current and wanted values of the metrics."},
    {"MinPods", "string", "", "The lowest number of replicas."},
    {"MaxPods", "string", "", "The highest number of replicas."},
    {"Replicas", "string", "", "The current number of replicas."},
    kAgeColumn,
};

// The field of a MetricSpec and a MetricStatus that its type names.
std::string_view SourceField(std::string_view type) {
  if (type == "External") return "external";
  if (type == "Pods") return "pods";
  if (type == "Object") return "object";
  if (type == "Resource") return "resource";
  return type == "ContainerResource" ? "containerResource" : "";
}

std::string Percent(const Json* number, std::string_view otherwise) {
  return number == nullptr ? std::string(otherwise) : std::to_string(number->get<std::int64_t>()) + "%";
}

// "cpu: 10%/80%", "3/10 (avg)", ...
std::string MetricText(const Json& spec, const Json& status) {
  const std::string_view type = api::StringAt(spec, "type");
  const std::string_view field = SourceField(type);
  if (field.empty()) return "<unknown type>";
  const Json& source = api::ObjectAt(spec, field);
  const Json& target = api::ObjectAt(source, "target");
  const Json& current = api::ObjectAt(status, field, "current");
  const std::string_view average = api::StringAt(target, "averageValue");
  if (type == "Resource" || type == "ContainerResource") {
    const std::string name = std::string(api::StringAt(source, "name")) + ": ";
    if (!average.empty())
      return name + OrElse(api::StringAt(current, "averageValue"), kUnknown) + "/" + std::string(average);
    return name + Percent(api::Find(current, "averageUtilization"), kUnknown) + "/" +
           Percent(api::Find(target, "averageUtilization"), "<auto>");
  }
  if (type == "Pods")
    return OrElse(api::StringAt(current, "averageValue"), kUnknown) + "/" + std::string(average);
  if (!average.empty())
    return OrElse(api::StringAt(current, "averageValue"), kUnknown) + "/" + std::string(average) + " (avg)";
  return OrElse(api::StringAt(current, "value"), kUnknown) + "/" +
         std::string(api::StringAt(target, "value"));
}

std::string MetricsText(const Json& specs, const Json& statuses) {
  constexpr std::size_t kShown = 2;
  if (specs.empty()) return std::string(kNone);
  static const Json kNoStatus = Json::object();
  std::string out;
  for (std::size_t i = 0; i < specs.size() && i < kShown; ++i)
    out += (i == 0 ? "" : ", ") + MetricText(specs[i], i < statuses.size() ? statuses[i] : kNoStatus);
  if (specs.size() > kShown) out += " + " + std::to_string(specs.size() - kShown) + " more...";
  return out;
}

std::vector<Json> Cells(const Json& document, api::Time now) {
  // v1 has the metrics in annotations.
  Json object = document;
  if (api::StringAt(object, "apiVersion") == "autoscaling/v1") AutoscalerToV2(object);
  const Json& spec = api::ObjectAt(object, "spec");
  const Json* min = api::Find(spec, "minReplicas");
  return {Name(object),
          std::string(api::StringAt(spec, "scaleTargetRef", "kind")) + "/" +
              std::string(api::StringAt(spec, "scaleTargetRef", "name")),
          MetricsText(api::ListAt(spec, "metrics"), api::ListAt(object, "status", "currentMetrics")),
          min == nullptr ? std::string(kUnset) : std::to_string(min->get<std::int64_t>()),
          api::IntAt(spec, 0, "maxReplicas"),
          api::IntAt(object, 0, "status", "currentReplicas"),
          Age(object, now)};
}

constexpr Column kMetricsColumns[] = {{"Name", "string", "name", "Name of the resource"},
                                      {"cpu", "string", "quantity", ""},
                                      {"memory", "string", "quantity", ""},
                                      {"Window", "string", "duration", ""}};

std::vector<Json> MetricsCells(const Json& object, const api::ResourceList& usage) {
  const auto amount = [&](std::string_view resource) {
    const auto found = usage.find(resource);
    return found == usage.end() ? std::string("0") : found->second.ToString();
  };
  return {Name(object), amount("cpu"), amount("memory"), std::string(api::StringAt(object, "window"))};
}

std::vector<Json> PodMetricsCells(const Json& object, api::Time) {
  api::ResourceList usage;
  for (const Json& container : api::ListAt(object, "containers"))
    api::AddTo(usage, api::ReadResourceList(api::ObjectAt(container, "usage")));
  return MetricsCells(object, usage);
}

std::vector<Json> NodeMetricsCells(const Json& object, api::Time) {
  return MetricsCells(object, api::ReadResourceList(api::ObjectAt(object, "usage")));
}

constexpr Printer kPrinters[] = {{"autoscaling", "HorizontalPodAutoscaler", kColumns, Cells},
                                 {"metrics.k8s.io", "NodeMetrics", kMetricsColumns, NodeMetricsCells},
                                 {"metrics.k8s.io", "PodMetrics", kMetricsColumns, PodMetricsCells}};

}  // namespace

std::span<const Printer> AutoscalingPrinters() { return kPrinters; }

}  // namespace terrarium::apiserver::table
