#include "api/base/clock.h"
#include "apiserver/strategies.h"
#include "apiserver/strategy/event_conversion.h"
#include "apiserver/strategy/internal/checks.h"
#include "apiserver/validation/formats.h"

namespace terrarium::apiserver {
namespace {

using namespace strategy;  // NOLINT: the helpers of this folder

enum class Group { kCore, kEvents };

constexpr std::size_t kMaxWordLength = 128;  // of reportingInstance, action and reason
constexpr std::size_t kMaxMessageLength = 1024;

bool HasTime(const Json& event, std::string_view key) { return !StringAt(event, key).empty(); }

void AtMost(FieldErrors& errors, const Json& event, std::string_view key, std::size_t max) {
  if (StringAt(event, key).size() <= max) return;
  errors.push_back(
      api::InvalidError(Path(key), "", "can have at most " + std::to_string(max) + " characters"));
}

void RequiredWord(FieldErrors& errors, const Json& event, std::string_view key) {
  if (StringAt(event, key).empty()) errors.push_back(api::RequiredError(Path(key)));
  AtMost(errors, event, key, kMaxWordLength);
}

// An event is in the namespace of its involvedObject. An event about a cluster-scoped object is in "default".
// New-style events, which have an eventTime, may also be in "kube-system" in that case, and in any namespace
// when the object has one. Old-style events about a cluster-scoped object may have no namespace.
void Namespaces(FieldErrors& errors, const Json& event) {
  const std::string_view ns = StringAt(event, "metadata", "namespace");
  const std::string_view about = StringAt(event, "involvedObject", "namespace");
  bool fits = false;
  if (about.empty()) {
    fits = ns == "default" || (HasTime(event, "eventTime") ? ns == "kube-system" : ns.empty());
  } else {
    fits = HasTime(event, "eventTime") || ns == about;
  }
  if (fits) return;
  errors.push_back(
      api::InvalidError(Path("involvedObject").Child("namespace"), about, "does not match event.namespace"));
}

FieldErrors Legacy(const Json& event, Group group) {
  FieldErrors errors;
  Namespaces(errors, event);
  if (HasTime(event, "eventTime")) {
    const Path controller(group == Group::kCore ? "reportingComponent" : "reportingController");
    const std::string_view name = StringAt(event, "reportingComponent");
    if (name.empty()) errors.push_back(api::RequiredError(controller));
    AddInvalid(IsQualifiedName(name), name, controller, errors);
    for (const char* key : {"reportingInstance", "action", "reason"}) RequiredWord(errors, event, key);
    AtMost(errors, event, "message", kMaxMessageLength);
  }
  const std::string_view ns = StringAt(event, "metadata", "namespace");
  AddInvalid(IsDns1123Subdomain(ns), ns, Path("namespace"), errors);
  return errors;
}

void Series(FieldErrors& errors, const Json& event) {
  const Json* series = Find(event, "series");
  if (series == nullptr) return;
  if (IntAt(*series, 0, "count") < 2) {
    errors.push_back(api::InvalidError(Path("series.count"), "", "should be at least 2"));
  }
  if (!HasTime(*series, "lastObservedTime"))
    errors.push_back(api::RequiredError(Path("series.lastObservedTime")));
}

void Unset(FieldErrors& errors, bool is_set, std::string_view key) {
  if (is_set) errors.push_back(api::InvalidError(Path(key), "", "needs to be unset"));
}

FieldErrors Create(const Json& event, Group group, NameCheck rule) {
  FieldErrors errors = Legacy(event, group);
  if (group == Group::kCore) return errors;
  api::Append(errors, NewMetadata(event, true, rule));
  Series(errors, event);
  if (!HasTime(event, "eventTime")) errors.push_back(api::RequiredError(Path("eventTime")));
  const std::string_view type = StringAt(event, "type");
  if (type != "Normal" && type != "Warning") {
    errors.push_back(api::InvalidError(Path("type"), "", "has invalid value: " + std::string(type)));
  }
  Unset(errors, HasTime(event, "firstTimestamp"), "firstTimestamp");
  Unset(errors, HasTime(event, "lastTimestamp"), "lastTimestamp");
  Unset(errors, IntAt(event, 0, "count") != 0, "count");
  Unset(errors, !StringAt(event, "source", "component").empty() || !StringAt(event, "source", "host").empty(),
        "source");
  return errors;
}

FieldErrors Update(const Json& event, const Json& old, Group group) {
  FieldErrors errors = Legacy(event, group);
  if (group == Group::kCore) return errors;
  api::Append(errors, ChangedMetadata(event, old));
  if (ObjectAt(event, "series") != ObjectAt(old, "series")) Series(errors, event);
  for (const char* key : {"involvedObject", "reason", "message", "source", "firstTimestamp", "lastTimestamp",
                          "count", "reason", "type"}) {
    Immutable(errors, event, old, key, Path());
  }
  if (api::ParseTime(StringAt(event, "eventTime")) != api::ParseTime(StringAt(old, "eventTime"))) {
    Immutable(errors, event, old, "eventTime", Path());
  }
  Immutable(errors, event, old, "action", Path());
  Immutable(errors, event, old, "related", Path());
  api::Append(errors, ValidateImmutable(Find(event, "reportingComponent"), Find(old, "reportingComponent"),
                                        Path("reportingController")));
  Immutable(errors, event, old, "reportingInstance", Path());
  return errors;
}

template <const char* const& kKey>
std::string About(const Json& event) {
  return std::string(StringAt(event, "involvedObject", kKey));
}
template <const char* const& kKey>
std::string Own(const Json& event) {
  return std::string(StringAt(event, kKey));
}
constexpr const char* kKind = "kind";
constexpr const char* kNamespace = "namespace";
constexpr const char* kName = "name";
constexpr const char* kUid = "uid";
constexpr const char* kApiVersion = "apiVersion";
constexpr const char* kResourceVersion = "resourceVersion";
constexpr const char* kFieldPath = "fieldPath";
constexpr const char* kReason = "reason";
constexpr const char* kReporter = "reportingComponent";
constexpr const char* kType = "type";

std::string Source(const Json& event) {
  const std::string_view component = StringAt(event, "source", "component");
  return std::string(component.empty() ? StringAt(event, "reportingComponent") : component);
}

constexpr SelectableField kCoreFields[] = {
    {"involvedObject.kind", About<kKind>},
    {"involvedObject.namespace", About<kNamespace>},
    {"involvedObject.name", About<kName>},
    {"involvedObject.uid", About<kUid>},
    {"involvedObject.apiVersion", About<kApiVersion>},
    {"involvedObject.resourceVersion", About<kResourceVersion>},
    {"involvedObject.fieldPath", About<kFieldPath>},
    {"reason", Own<kReason>},
    {"reportingComponent", Own<kReporter>},
    {"type", Own<kType>},
    {"source", Source},
};

constexpr SelectableField kEventsFields[] = {
    {"regarding.kind", About<kKind>},
    {"regarding.namespace", About<kNamespace>},
    {"regarding.name", About<kName>},
    {"regarding.uid", About<kUid>},
    {"regarding.apiVersion", About<kApiVersion>},
    {"regarding.resourceVersion", About<kResourceVersion>},
    {"regarding.fieldPath", About<kFieldPath>},
    {"reason", Own<kReason>},
    {"reportingController", Own<kReporter>},
    {"type", Own<kType>},
};

class Event final : public Strategy {
 public:
  explicit Event(Group group) : group_(group) {}

  bool HasStatus() const override { return false; }
  bool HasGeneration() const override { return false; }
  bool AllowCreateOnUpdate() const override { return true; }

  FieldErrors Validate(const StrategyContext& /*context*/, const Json& object) const override {
    return Create(object, group_, NameRule());
  }

  FieldErrors ValidateUpdate(const StrategyContext& /*context*/, const Json& object,
                             const Json& old) const override {
    return Update(object, old, group_);
  }

  std::span<const SelectableField> SelectableFields() const override {
    if (group_ == Group::kCore) return kCoreFields;
    return kEventsFields;
  }

 private:
  const Group group_;
};

}  // namespace

const Strategy& EventStrategy() {
  static const Event strategy(Group::kCore);
  return strategy;
}

const Strategy& EventsV1Strategy() {
  static const Event strategy(Group::kEvents);
  return strategy;
}

}  // namespace terrarium::apiserver
