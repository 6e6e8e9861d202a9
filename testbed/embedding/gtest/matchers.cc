#include "testbed/embedding/gtest/matchers.h"

#include <limits>

#include "api/core_v1/pod.h"
#include "api/json_access.h"
#include "testbed/control_plane/field_path.h"

namespace terrarium::testbed {

void PrintView(const ObjectView& view, std::ostream* out) {
  if (!view) {
    *out << "no object";
    return;
  }
  *out << (view.ns().empty() ? "" : view.ns() + "/") << view.name() << " at revision " << view.revision();
  if (const api::Json* status = api::Find(view.document(), "status")) *out << ", status " << *status;
}

void PrintTo(const EventView& event, std::ostream* out) {
  *out << event.type() << " " << event.reason() << " " << event.regarding_kind() << "/"
       << event.regarding_name() << ": " << event.message();
  if (event.count() > 1) *out << " (x" << event.count() << ")";
}

}  // namespace terrarium::testbed

namespace terrarium::testing {

using api::Json;
using api::StringAt;
using ::testing::Matcher;
using ::testing::MatchResultListener;

FieldValue::operator std::string() const { return testbed::PrintedValue(value_); }

double FieldValue::Number() const {
  return value_.is_number() ? value_.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

namespace internal {

Subject::Subject(const testbed::ObjectView& view)
    : exists(view.exists()), document(view.object(), &view.document()) {
  // A view of nothing has a document that is its own.
  if (!exists) document = std::make_shared<const Json>(Json::object());
}
Subject::Subject(const api::ObjectPtr& object)
    : exists(object != nullptr),
      document(object != nullptr ? object->Document() : std::make_shared<const Json>(Json::object())) {}
Subject::Subject(const Json& doc) : exists(true), document(std::make_shared<const Json>(doc)) {}

namespace {

// "which has no ..." reads better than an empty explanation, and a missing object explains everything.
bool Missing(const Subject& subject, MatchResultListener* listener) {
  if (subject.exists) return false;
  *listener << "which is not there";
  return true;
}

std::string Listed(const Json& conditions) {
  std::string out;
  for (const Json& condition : conditions) {
    std::string reason(StringAt(condition, "reason"));
    out += (out.empty() ? "" : ", ") + std::string(StringAt(condition, "type")) + "=" +
           std::string(StringAt(condition, "status")) + (reason.empty() ? "" : " (" + reason + ")");
  }
  return out;
}

}  // namespace

bool ConditionMatcher::MatchAndExplain(const Subject& subject, MatchResultListener* listener) const {
  if (Missing(subject, listener)) return false;
  const Json& conditions = api::ListAt(*subject.document, "status", "conditions");
  *listener << (conditions.empty() ? "which has no conditions" : "which has " + Listed(conditions));
  const Json* found = api::FindCondition(*subject.document, type_);
  return found != nullptr && StringAt(*found, "status") == status_ &&
         reason_.Matches(std::string(StringAt(*found, "reason")));
}

void ConditionMatcher::Describe(const char* verb, std::ostream* out) const {
  *out << verb << " the condition " << type_ << "=" << status_ << " whose reason ";
  reason_.DescribeTo(out);
}

bool FieldMatcher::MatchAndExplain(const Subject& subject, MatchResultListener* listener) const {
  if (Missing(subject, listener)) return false;
  auto path = testbed::FieldPath::Parse(path_);
  if (!path) {
    *listener << "but " << path_ << " is not a path: " << path.status().message;
    return false;
  }
  const Json* found = path->Find(*subject.document);
  FieldValue value(found == nullptr ? Json() : *found);
  if (found == nullptr)
    *listener << "which has no " << path_;
  else
    *listener << "whose " << path_ << " is " << value.json();
  return value_.Matches(value);
}

void FieldMatcher::DescribeTo(std::ostream* out) const {
  *out << "has a field " << path_ << " that ";
  value_.DescribeTo(out);
}

void FieldMatcher::DescribeNegationTo(std::ostream* out) const {
  *out << "has a field " << path_ << " that ";
  value_.DescribeNegationTo(out);
}

bool StateMatcher::MatchAndExplain(const Subject& subject, MatchResultListener* listener) const {
  if (Missing(subject, listener)) return false;
  if (state_ == State::kExists) return true;
  std::string_view since = StringAt(*subject.document, "metadata", "deletionTimestamp");
  std::string_view phase = StringAt(*subject.document, "status", "phase");
  if (since.empty()) {
    *listener << "which has not been deleted";
    return false;
  }
  bool ended = api::IsPodPhaseTerminal(phase);
  if (ended)
    *listener << "which has " << phase;
  else
    *listener << "whose deletionTimestamp is " << since;
  return !ended;
}

void StateMatcher::DescribeTo(std::ostream* out) const {
  *out << (state_ == State::kExists ? "is there" : "is terminating");
}

void StateMatcher::DescribeNegationTo(std::ostream* out) const {
  *out << (state_ == State::kExists ? "is not there" : "is not terminating");
}

bool EventMatcher::MatchAndExplain(const std::vector<testbed::EventView>& events,
                                   MatchResultListener* listener) const {
  for (const testbed::EventView& event : events)
    if (reason_.Matches(event.reason()) && message_.Matches(event.message())) return true;
  if (events.empty()) *listener << "which is empty";
  return false;
}

void EventMatcher::Describe(const char* verb, std::ostream* out) const {
  *out << verb << " whose reason ";
  reason_.DescribeTo(out);
  *out << " and whose message ";
  message_.DescribeTo(out);
}

}  // namespace internal

internal::ConditionMatcher HasCondition(std::string type, std::string status, Matcher<std::string> reason) {
  return {std::move(type), std::move(status), std::move(reason)};
}

namespace {

template <typename View>
Matcher<const View&> Counted(const char* name, std::int64_t (View::*count)() const,
                             const CountMatcher& wanted) {
  return ::testing::Property(name, count, wanted);
}

}  // namespace

using testbed::DeploymentView;
using testbed::ReplicasView;

Matcher<const ReplicasView&> HasReplicas(const CountMatcher& count) {
  return Counted("status.replicas", &ReplicasView::replicas, count);
}
Matcher<const ReplicasView&> HasReadyReplicas(const CountMatcher& count) {
  return Counted("status.readyReplicas", &ReplicasView::ready_replicas, count);
}
Matcher<const ReplicasView&> HasAvailableReplicas(const CountMatcher& count) {
  return Counted("status.availableReplicas", &ReplicasView::available_replicas, count);
}
Matcher<const ReplicasView&> HasTerminatingReplicas(const CountMatcher& count) {
  return ::testing::Property("status.terminatingReplicas", &ReplicasView::terminating_replicas,
                             ::testing::Optional(count));
}
Matcher<const DeploymentView&> HasUpdatedReplicas(const CountMatcher& count) {
  return Counted("status.updatedReplicas", &DeploymentView::updated_replicas, count);
}
Matcher<const DeploymentView&> IsRolledOut() {
  return ::testing::Property("rolled_out", &DeploymentView::rolled_out, true);
}

internal::StateMatcher Exists() { return internal::StateMatcher(internal::StateMatcher::State::kExists); }
internal::StateMatcher IsTerminating() {
  return internal::StateMatcher(internal::StateMatcher::State::kTerminating);
}
internal::FieldMatcher HasPhase(const std::string& phase) { return HasField("status.phase", phase); }

internal::EventMatcher HasEvent(Matcher<std::string> reason, Matcher<std::string> message) {
  return {std::move(reason), std::move(message)};
}

}  // namespace terrarium::testing
