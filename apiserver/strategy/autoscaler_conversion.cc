#include "apiserver/strategy/autoscaler_conversion.h"

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "api/base/check.h"
#include "api/codec/decode.h"
#include "api/codec/normalize.h"
#include "api/json_access.h"
#include "api/schema/schema.h"

namespace terrarium::apiserver {
namespace {

using api::Find;
using api::ListAt;
using api::StringAt;

constexpr const char* kMetrics = "autoscaling.alpha.kubernetes.io/metrics";
constexpr const char* kBehavior = "autoscaling.alpha.kubernetes.io/behavior";
constexpr const char* kCurrentMetrics = "autoscaling.alpha.kubernetes.io/current-metrics";
constexpr const char* kConditions = "autoscaling.alpha.kubernetes.io/conditions";
constexpr const char* kAnnotations[] = {kMetrics, kBehavior, kCurrentMetrics, kConditions};

constexpr const char* kTargetPercentage = "targetCPUUtilizationPercentage";
constexpr const char* kCurrentPercentage = "currentCPUUtilizationPercentage";
constexpr int kDefaultCpuUtilization = 80;

const api::Message& SchemaOf(const char* version) {
  return api::Schema::Get().Must("io.k8s.api.autoscaling." + std::string(version) +
                                 ".HorizontalPodAutoscaler");
}

// Where v2 has a member of a source's `metric`, `target` or `current`, and v1 the same value in the source
// itself.
struct Move {
  const char* source;
  const char* v1;
  const char* outer;
  const char* inner;
};

constexpr Move kSpecMoves[] = {
    {"object", "target", "describedObject", nullptr},
    {"object", "metricName", "metric", "name"},
    {"object", "selector", "metric", "selector"},
    {"object", "targetValue", "target", "value"},
    {"object", "averageValue", "target", "averageValue"},
    {"pods", "metricName", "metric", "name"},
    {"pods", "selector", "metric", "selector"},
    {"pods", "targetAverageValue", "target", "averageValue"},
    {"resource", "targetAverageUtilization", "target", "averageUtilization"},
    {"resource", "targetAverageValue", "target", "averageValue"},
    {"containerResource", "targetAverageUtilization", "target", "averageUtilization"},
    {"containerResource", "targetAverageValue", "target", "averageValue"},
    {"external", "metricName", "metric", "name"},
    {"external", "metricSelector", "metric", "selector"},
    {"external", "targetValue", "target", "value"},
    {"external", "targetAverageValue", "target", "averageValue"},
};

constexpr Move kStatusMoves[] = {
    {"object", "target", "describedObject", nullptr},
    {"object", "metricName", "metric", "name"},
    {"object", "selector", "metric", "selector"},
    {"object", "currentValue", "current", "value"},
    {"object", "averageValue", "current", "averageValue"},
    {"pods", "metricName", "metric", "name"},
    {"pods", "selector", "metric", "selector"},
    {"pods", "currentAverageValue", "current", "averageValue"},
    {"resource", "currentAverageUtilization", "current", "averageUtilization"},
    {"resource", "currentAverageValue", "current", "averageValue"},
    {"containerResource", "currentAverageUtilization", "current", "averageUtilization"},
    {"containerResource", "currentAverageValue", "current", "averageValue"},
    {"external", "metricName", "metric", "name"},
    {"external", "metricSelector", "metric", "selector"},
    {"external", "currentValue", "current", "value"},
    {"external", "currentAverageValue", "current", "averageValue"},
};

bool IsOneOfMoves(std::span<const Move> moves, std::string_view source, std::string_view member, bool v1) {
  for (const Move& move : moves)
    if (move.source == source && member == (v1 ? move.v1 : move.outer)) return true;
  return false;
}

// Members that both versions have in one place (type, name, container), and the source itself.
Json SkeletonOf(const Json& metric, std::span<const Move> moves, bool from_v1) {
  Json out = Json::object();
  for (const auto& [key, value] : metric.items()) {
    if (!value.is_object()) {
      out[key] = value;
      continue;
    }
    out[key] = Json::object();
    for (const auto& [member, each] : value.items())
      if (!IsOneOfMoves(moves, key, member, from_v1)) out[key][member] = each;
  }
  return out;
}

Json MetricToV1(const Json& metric, std::span<const Move> moves) {
  Json out = SkeletonOf(metric, moves, false);
  for (const Move& move : moves) {
    const Json* value = move.inner == nullptr ? Find(metric, move.source, move.outer)
                                              : Find(metric, move.source, move.outer, move.inner);
    if (value != nullptr) out[move.source][move.v1] = *value;
  }
  return out;
}

Json MetricToV2(const Json& metric, std::span<const Move> moves) {
  if (!metric.is_object()) return metric;
  Json out = SkeletonOf(metric, moves, true);
  for (const Move& move : moves) {
    const Json* value = Find(metric, move.source, move.v1);
    if (value == nullptr) continue;
    if (move.inner == nullptr)
      out[move.source][move.outer] = *value;
    else
      out[move.source][move.outer][move.inner] = *value;
  }
  return out;
}

// v1 has no type of a target. The value of an object is a plain number in v1, "0" where there is only an
// average.
void AddTargetType(Json& metric) {
  for (auto& [source, value] : metric.items()) {
    if (!value.is_object() || !value.contains("target")) continue;
    Json& target = value["target"];
    if (source == "object" && target.contains("averageValue")) target.erase("value");
    target["type"] = target.contains("averageUtilization") ? "Utilization"
                     : target.contains("value")            ? "Value"
                                                           : "AverageValue";
  }
}

bool IsCpuUtilization(const Json& metric, const char* part) {
  return StringAt(metric, "type") == "Resource" && StringAt(metric, "resource", "name") == "cpu" &&
         Find(metric, "resource", part, "averageUtilization") != nullptr;
}

Json CpuMetric(const char* part, const Json& percentage) {
  Json value = {{"averageUtilization", percentage}};
  if (std::string_view(part) == "target") value["type"] = "Utilization";
  return {{"type", "Resource"}, {"resource", {{"name", "cpu"}, {part, std::move(value)}}}};
}

// The behavior is written with the names of Go's struct, which differ from those of the API in their first
// letter.
Json WithFirstLetter(const Json& value, int (*change)(int)) {
  if (value.is_array()) {
    Json out = Json::array();
    for (const Json& each : value) out.push_back(WithFirstLetter(each, change));
    return out;
  }
  if (!value.is_object()) return value;
  Json out = Json::object();
  for (const auto& [key, each] : value.items()) {
    std::string name(key);
    if (!name.empty()) name[0] = static_cast<char>(change(static_cast<unsigned char>(name[0])));
    out[name] = WithFirstLetter(each, change);
  }
  return out;
}

int ToUpper(int c) { return c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c; }
int ToLower(int c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; }

std::string TextOf(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

// The value of an annotation, or null when it is absent or is not JSON.
Json ReadAnnotation(const Json& annotations, const char* name) {
  const std::string_view text = StringAt(annotations, name);
  if (text.empty()) return {};
  api::Decoded decoded = api::DecodeJson(text, {.strict = false});
  return decoded.error ? Json() : std::move(decoded.object);
}

// Puts `value` at autoscaler[part][field] if it is valid there.
void Put(Json& autoscaler, const char* part, const char* field, Json value) {
  Json probe = {{part, {{field, std::move(value)}}}};
  if (api::Normalize(SchemaOf("v2"), probe, nullptr)) return;
  const Json* normal = Find(probe, part, field);
  if (normal != nullptr && !normal->is_null()) autoscaler[part][field] = *normal;
}

Json MetricsFrom(const Json& list, std::span<const Move> moves, bool targets) {
  if (!list.is_array()) return {};
  Json out = Json::array();
  for (const Json& metric : list) {
    out.push_back(MetricToV2(metric, moves));
    if (targets && out.back().is_object()) AddTargetType(out.back());
  }
  return out;
}

// Removes the annotations that carry v2's fields and returns them.
Json TakeAnnotations(Json& autoscaler) {
  Json taken = Json::object();
  const auto metadata = autoscaler.find("metadata");
  if (metadata == autoscaler.end() || !metadata->contains("annotations")) return taken;
  Json& annotations = (*metadata)["annotations"];
  for (const char* name : kAnnotations) {
    if (!annotations.contains(name)) continue;
    taken[name] = annotations[name];
    annotations.erase(name);
  }
  if (annotations.empty()) metadata->erase("annotations");
  return taken;
}

Json Take(Json& autoscaler, const char* part, const char* field) {
  const auto found = autoscaler.find(part);
  if (found == autoscaler.end() || !found->contains(field)) return {};
  Json value = (*found)[field];
  found->erase(field);
  return value;
}

void NormalizeAs(const char* version, Json& autoscaler) {
  const auto error = api::Normalize(SchemaOf(version), autoscaler, nullptr);
  CHECK(!error.has_value());
}

}  // namespace

void AutoscalerToV2(Json& autoscaler) {
  const Json annotations = TakeAnnotations(autoscaler);
  const Json target = Take(autoscaler, "spec", kTargetPercentage);
  const Json current = Take(autoscaler, "status", kCurrentPercentage);
  if (!current.is_null()) autoscaler["status"]["currentMetrics"] = {CpuMetric("current", current)};
  Put(autoscaler, "spec", "metrics", MetricsFrom(ReadAnnotation(annotations, kMetrics), kSpecMoves, true));
  if (!target.is_null() || ListAt(autoscaler, "spec", "metrics").empty()) {
    Json& metrics = autoscaler["spec"]["metrics"];
    metrics.push_back(CpuMetric("target", target.is_null() ? Json(kDefaultCpuUtilization) : target));
  }
  if (const Json behavior = ReadAnnotation(annotations, kBehavior); behavior.is_object())
    Put(autoscaler, "spec", "behavior", WithFirstLetter(behavior, ToLower));
  Put(autoscaler, "status", "currentMetrics",
      MetricsFrom(ReadAnnotation(annotations, kCurrentMetrics), kStatusMoves, false));
  if (Json conditions = ReadAnnotation(annotations, kConditions); conditions.is_array())
    Put(autoscaler, "status", "conditions", std::move(conditions));
  NormalizeAs("v2", autoscaler);
}

void AutoscalerToV1(Json& autoscaler) {
  TakeAnnotations(autoscaler);
  Json others = Json::array();
  for (const Json& metric : Take(autoscaler, "spec", "metrics")) {
    if (!IsCpuUtilization(metric, "target")) {
      others.push_back(MetricToV1(metric, kSpecMoves));
      Json& object = others.back();
      if (object.contains("object") && !object["object"].contains("targetValue"))
        object["object"]["targetValue"] = "0";
    } else if (Find(autoscaler, "spec", kTargetPercentage) == nullptr) {
      autoscaler["spec"][kTargetPercentage] = metric["resource"]["target"]["averageUtilization"];
    }
  }
  Json currents = Json::array();
  for (const Json& metric : Take(autoscaler, "status", "currentMetrics")) {
    currents.push_back(MetricToV1(metric, kStatusMoves));
    if (IsCpuUtilization(metric, "current"))
      autoscaler["status"][kCurrentPercentage] = metric["resource"]["current"]["averageUtilization"];
  }
  const Json behavior = Take(autoscaler, "spec", "behavior");
  const Json conditions = Take(autoscaler, "status", "conditions");
  const auto annotate = [&](const char* name, const Json& value) {
    if (!value.empty()) autoscaler["metadata"]["annotations"][name] = TextOf(value);
  };
  annotate(kMetrics, others);
  annotate(kCurrentMetrics, currents);
  annotate(kBehavior, WithFirstLetter(behavior, ToUpper));
  annotate(kConditions, conditions);
  NormalizeAs("v1", autoscaler);
}

}  // namespace terrarium::apiserver
