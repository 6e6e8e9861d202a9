#include "testbed/scenario/shapes.h"

#include <cmath>
#include <limits>

#include "api/base/clock.h"
#include "api/base/duration.h"
#include "api/base/feature_gates.h"
#include "api/pod_script/pod_script.h"
#include "api/selector/label_selector.h"
#include "testbed/scenario/target.h"

namespace terrarium::testbed::scenario {
namespace {

using Type = Shape::Type;

constexpr double kEndless = std::numeric_limits<double>::infinity();

std::string WrongDuration(const Json& value) {
  auto parsed = api::ParseDuration(value.get_ref<const std::string&>());
  if (!parsed) return parsed.error + ": write a duration like 90s or 1h30m";
  return parsed.value < api::Duration::zero() ? "the duration goes back in time" : "";
}

std::string WrongTime(const Json& value) {
  const auto& text = value.get_ref<const std::string&>();
  return api::ParseTime(text) ? "" : api::Quote(text) + " is not a time like 2026-01-01T00:00:00Z";
}

std::string WrongSelector(const Json& value) {
  auto parsed = api::LabelSelector::Parse(value.get_ref<const std::string&>());
  return parsed ? "" : parsed.status().message;
}

std::string WrongTarget(const Json& value) {
  auto parsed = ParseKindAndName(value.get_ref<const std::string&>());
  return parsed ? "" : parsed.status().message;
}

std::string WrongManifest(const Json& value) {
  for (const char* key : {"apiVersion", "kind"})
    if (!value.contains(key) || !value[key].is_string())
      return "an object needs apiVersion and kind, each a string";
  return ResourceOfManifest(value) == nullptr
             ? "no kind " + api::Quote(value["kind"].get_ref<const std::string&>()) + " in " +
                   value["apiVersion"].get<std::string>() + " is served"
             : "";
}

std::string WrongScript(const Json& value) {
  api::PodScript script;
  api::FieldErrors errors = api::ParseScriptKeys(value, api::Path("script"), &script);
  return errors.empty() ? "" : errors[0].field + ": " + errors[0].message;
}

std::vector<std::string> GateNames() {
  std::vector<std::string> names;
  for (const api::GateDef& gate : api::AllGates()) names.emplace_back(gate.name);
  return names;
}

const Shape& AnyNumber() {
  static const Shape shape{Type::kNumber, "a number"};
  return shape;
}

const Shape& BoundsShape() {
  static const Shape shape{.type = Type::kFields,
                           .is = "a comparison",
                           .wrong = [](const Json& value) -> std::string {
                             return value.empty() ? "the comparison is empty: write atLeast or atMost" : "";
                           },
                           .members = {{"atLeast", AnyNumber(), "the least it may be"},
                                       {"atMost", AnyNumber(), "the most it may be"}}};
  return shape;
}

const Shape& Manifest() {
  static const Shape shape{.type = Type::kObject, .is = "a Kubernetes object", .wrong = WrongManifest};
  return shape;
}

const Shape& ManifestList() {
  static const Shape shape{.type = Type::kList, .is = "Kubernetes objects", .of = &Manifest(), .least = 1};
  return shape;
}

}  // namespace

const Shape& AnyText() {
  static const Shape shape{Type::kText, "a string"};
  return shape;
}

const Shape& AnyBoolean() {
  static const Shape shape{Type::kBoolean, "true or false"};
  return shape;
}

const Shape& Anything() {
  static const Shape shape{Type::kAnything, "anything"};
  return shape;
}

const Shape& AnyObject() {
  static const Shape shape{Type::kObject, "a mapping"};
  return shape;
}

const Shape& Texts() {
  static const Shape shape{.type = Type::kList, .is = "a list of texts", .of = &AnyText()};
  return shape;
}

const Shape& NotNegative() {
  static const Shape shape{.type = Type::kInteger, .is = "a whole number from 0 on", .least = 0};
  return shape;
}

const Shape& Positive() {
  static const Shape shape{.type = Type::kInteger, .is = "a whole number from 1 on", .least = 1};
  return shape;
}

const Shape& DurationText() {
  static const Shape shape{.type = Type::kText,
                           .is = "a duration like 90s or 1h30m",
                           .pattern = R"(^(0|([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h))+$)",
                           .wrong = WrongDuration};
  return shape;
}

const Shape& TimeText() {
  static const Shape shape{.type = Type::kText,
                           .is = "a time like 2026-01-01T00:00:00Z, in quotes",
                           .pattern =
                               "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]+)?"
                               "(Z|[+-][0-9]{2}:[0-9]{2})$",
                           .wrong = WrongTime};
  return shape;
}

const Shape& SelectorText() {
  static const Shape shape{
      .type = Type::kText, .is = "a label selector like app=web", .wrong = WrongSelector};
  return shape;
}

const Shape& LikeText() {
  static const Shape shape{Type::kText, "a string in which * stands for anything"};
  return shape;
}

const Shape& Target() {
  static const Shape shape{.type = Type::kText,
                           .is = "KIND/NAME or KIND, like deployment/web or pods",
                           .pattern = "^(" + JoinedKindWords() + ")(/[^/]+)?$",
                           .wrong = WrongTarget};
  return shape;
}

const Shape& Manifests() {
  static const Shape shape{.type = Type::kEither,
                           .is = "a Kubernetes object or a list of them",
                           .choices = {&Manifest(), &ManifestList()}};
  return shape;
}

const Shape& ComponentName() {
  static const Shape shape{.type = Type::kText,
                           .is = "a component",
                           .words = {"apiserver", "controller-manager", "scheduler", "kubelet"}};
  return shape;
}

const Shape& GateValues() {
  static const Shape shape{
      .type = Type::kMap, .is = "feature gate", .words = GateNames(), .of = &AnyBoolean()};
  return shape;
}

const Shape& NumberRule() {
  static const Shape shape{.type = Type::kEither,
                           .is = "a number, or {atLeast: N, atMost: N}",
                           .choices = {&AnyNumber(), &BoundsShape()}};
  return shape;
}

const Shape& Span() {
  static const Shape shape{
      .type = Type::kText,
      .is = "a duration like 90s, or end",
      .pattern = R"(^(end|(0|([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h))+)$)",
      .wrong = [](const Json& value) -> std::string { return value == "end" ? "" : WrongDuration(value); }};
  return shape;
}

const Shape& ScriptKeys() {
  static const Shape shape{.type = Type::kObject, .is = "keys of a pod script", .wrong = WrongScript};
  return shape;
}

std::string Bounds::String() const {
  auto number = [](double value) {
    return std::floor(value) == value ? std::to_string(static_cast<std::int64_t>(value))
                                      : std::to_string(value);
  };
  if (least == most) return number(least);
  if (most == kEndless) return "at least " + number(least);
  if (least == -kEndless) return "at most " + number(most);
  return number(least) + " to " + number(most);
}

Bounds BoundsOf(const Json& rule) {
  if (rule.is_number()) return {rule.get<double>(), rule.get<double>()};
  Bounds out{-kEndless, kEndless};
  if (rule.contains("atLeast")) out.least = rule["atLeast"].get<double>();
  if (rule.contains("atMost")) out.most = rule["atMost"].get<double>();
  return out;
}

}  // namespace terrarium::testbed::scenario
