#pragma once

// GoogleMock matchers for what is in a control plane. Their subject is a view (testbed/embedding/views.h), a
// stored object or a document:
//
//   EXPECT_THAT(bed.Deployment("web"), HasCondition("Available"));
//   EXPECT_THAT(bed.Deployment("web"), AllOf(HasReplicas(4), HasField("spec.paused", true)));
//   EXPECT_THAT(bed.Pods("app=web"), Each(HasPhase("Running")));
//   EXPECT_THAT(bed.Events("Deployment", "web"), HasEvent("ScalingReplicaSet", HasSubstr("from 0 to 3")));
//
// A failure shows what was there instead: the conditions, the value of the field, the Events, and the
// object's status.

#include <compare>
#include <concepts>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "api/json.h"
#include "api/object.h"
#include "testbed/embedding/views.h"

namespace terrarium::testbed {

// How GoogleTest shows them: which object at which revision, and its status.
void PrintView(const ObjectView& view, std::ostream* out);
template <std::derived_from<ObjectView> View>
void PrintTo(const View& view, std::ostream* out) {
  PrintView(view, out);
}
void PrintTo(const EventView& event, std::ostream* out);

}  // namespace terrarium::testbed

namespace terrarium::testing {

// The value of a field as matchers see it: a number, a text or a boolean, whichever they ask for. What is not
// there equals nothing but nullptr.
class FieldValue {
 public:
  explicit FieldValue(api::Json value) : value_(std::move(value)) {}

  const api::Json& json() const { return value_; }
  operator std::string() const;  // as it is printed: for HasSubstr and its like

  template <typename T>
  friend bool operator==(const FieldValue& a, const T& b) {
    return a.value_ == api::Json(b);
  }
  template <typename T>
  requires std::is_arithmetic_v<T>
  friend auto operator<=>(const FieldValue& a, const T& b) { return a.Number() <=> static_cast<double>(b); }
  friend void PrintTo(const FieldValue& value, std::ostream* out) { *out << value.value_; }

 private:
  double Number() const;  // NaN when it is none, which is neither less nor more than anything

  api::Json value_;
};

namespace internal {

// What a matcher looks at.
struct Subject {
  Subject(const testbed::ObjectView& view);  // NOLINT: implicit on purpose
  Subject(const api::ObjectPtr& object);     // NOLINT: implicit on purpose
  Subject(const api::Json& document);        // NOLINT: implicit on purpose
  bool exists = false;
  std::shared_ptr<const api::Json> document;
};

class ConditionMatcher {
 public:
  using is_gtest_matcher = void;
  ConditionMatcher(std::string type, std::string status, ::testing::Matcher<std::string> reason)
      : type_(std::move(type)), status_(std::move(status)), reason_(std::move(reason)) {}
  bool MatchAndExplain(const Subject& subject, ::testing::MatchResultListener* listener) const;
  void DescribeTo(std::ostream* out) const { Describe("has", out); }
  void DescribeNegationTo(std::ostream* out) const { Describe("has not", out); }

 private:
  void Describe(const char* verb, std::ostream* out) const;
  std::string type_;
  std::string status_;
  ::testing::Matcher<std::string> reason_;
};

class FieldMatcher {
 public:
  using is_gtest_matcher = void;
  FieldMatcher(std::string path, ::testing::Matcher<const FieldValue&> value)
      : path_(std::move(path)), value_(std::move(value)) {}
  bool MatchAndExplain(const Subject& subject, ::testing::MatchResultListener* listener) const;
  void DescribeTo(std::ostream* out) const;
  void DescribeNegationTo(std::ostream* out) const;

 private:
  std::string path_;
  ::testing::Matcher<const FieldValue&> value_;
};

// Something about an object that is so or is not.
class StateMatcher {
 public:
  using is_gtest_matcher = void;
  enum class State { kExists, kTerminating };
  explicit StateMatcher(State state) : state_(state) {}
  bool MatchAndExplain(const Subject& subject, ::testing::MatchResultListener* listener) const;
  void DescribeTo(std::ostream* out) const;
  void DescribeNegationTo(std::ostream* out) const;

 private:
  State state_;
};

class EventMatcher {
 public:
  using is_gtest_matcher = void;
  EventMatcher(::testing::Matcher<std::string> reason, ::testing::Matcher<std::string> message)
      : reason_(std::move(reason)), message_(std::move(message)) {}
  bool MatchAndExplain(const std::vector<testbed::EventView>& events,
                       ::testing::MatchResultListener* listener) const;
  void DescribeTo(std::ostream* out) const { Describe("has an Event", out); }
  void DescribeNegationTo(std::ostream* out) const { Describe("has no Event", out); }

 private:
  void Describe(const char* verb, std::ostream* out) const;
  ::testing::Matcher<std::string> reason_;
  ::testing::Matcher<std::string> message_;
};

}  // namespace internal

// An entry of status.conditions has that status, and a reason that matches.
internal::ConditionMatcher HasCondition(std::string type, std::string status = "True",
                                        ::testing::Matcher<std::string> reason = ::testing::_);

// A field, by its path (testbed/control_plane/field_path.h): HasField("status.replicas", Gt(2)),
// HasField(".status.phase", "Running"), HasField("spec.selector", Json{...}). One that is not there matches
// nullptr alone.
template <typename M>
internal::FieldMatcher HasField(std::string path, const M& value) {
  return {std::move(path), ::testing::SafeMatcherCast<const FieldValue&>(value)};
}

// Counters of status; one that is left out is 0 and matches that.
using CountMatcher = ::testing::Matcher<std::int64_t>;
::testing::Matcher<const testbed::ReplicasView&> HasReplicas(const CountMatcher& count);
::testing::Matcher<const testbed::ReplicasView&> HasReadyReplicas(const CountMatcher& count);
::testing::Matcher<const testbed::ReplicasView&> HasAvailableReplicas(const CountMatcher& count);
// Fails where the status does not say.
::testing::Matcher<const testbed::ReplicasView&> HasTerminatingReplicas(const CountMatcher& count);
::testing::Matcher<const testbed::DeploymentView&> HasUpdatedReplicas(const CountMatcher& count);
::testing::Matcher<const testbed::DeploymentView&> IsRolledOut();

internal::StateMatcher Exists();
// It has a deletionTimestamp; a pod must not have ended either.
internal::StateMatcher IsTerminating();
internal::FieldMatcher HasPhase(const std::string& phase);

// Of a list of Events, as Testbed::Events() gives it.
internal::EventMatcher HasEvent(::testing::Matcher<std::string> reason,
                                ::testing::Matcher<std::string> message = ::testing::_);

}  // namespace terrarium::testing
