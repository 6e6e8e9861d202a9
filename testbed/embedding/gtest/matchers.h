#pragma once

// GoogleMock matchers for objects of a control plane: views (testbed/embedding/views.h), stored objects or
// documents:
//
//   EXPECT_THAT(bed.Deployment("web"), HasCondition("Available"));
//   EXPECT_THAT(bed.Deployment("web"), AllOf(HasReplicas(4), HasField("spec.paused", true)));
//   EXPECT_THAT(bed.Pods("app=web"), Each(HasPhase("Running")));
//   EXPECT_THAT(bed.Events("Deployment", "web"), HasEvent("ScalingReplicaSet", HasSubstr("from 0 to 3")));
//
// A failure prints the actual state: the conditions, the value of the field, the Events, and the object's
// status.

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

// How GoogleTest prints a view: object, revision and status.
void PrintView(const ObjectView& view, std::ostream* out);
template <std::derived_from<ObjectView> View>
void PrintTo(const View& view, std::ostream* out) {
  PrintView(view, out);
}
void PrintTo(const EventView& event, std::ostream* out);

}  // namespace terrarium::testbed

namespace terrarium::testing {

// The value of a field for matchers, comparable with numbers, strings and booleans. An absent field equals
// nullptr only.
class FieldValue {
 public:
  explicit FieldValue(api::Json value) : value_(std::move(value)) {}

  const api::Json& json() const { return value_; }
  operator std::string() const;  // NOLINT: implicit on purpose, for HasSubstr and similar matchers

  template <typename T>
  friend bool operator==(const FieldValue& a, const T& b) {
    return a.value_ == api::Json(b);
  }
  template <typename T>
  requires std::is_arithmetic_v<T>
  friend auto operator<=>(const FieldValue& a, const T& b) { return a.Number() <=> static_cast<double>(b); }
  friend void PrintTo(const FieldValue& value, std::ostream* out) { *out << value.value_; }

 private:
  double Number() const;  // NaN for a value that is not a number

  api::Json value_;
};

namespace internal {

// The argument of a matcher.
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

// A boolean property of an object.
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

// Matches an object with a condition of that type and status, and a matching reason.
internal::ConditionMatcher HasCondition(std::string type, std::string status = "True",
                                        ::testing::Matcher<std::string> reason = ::testing::_);

// A field, by its path (testbed/control_plane/field_path.h): HasField("status.replicas", Gt(2)),
// HasField(".status.phase", "Running"), HasField("spec.selector", Json{...}). An absent field matches nullptr
// only.
template <typename M>
internal::FieldMatcher HasField(std::string path, const M& value) {
  return {std::move(path), ::testing::SafeMatcherCast<const FieldValue&>(value)};
}

// Counters of status; an absent counter is 0.
using CountMatcher = ::testing::Matcher<std::int64_t>;
::testing::Matcher<const testbed::ReplicasView&> HasReplicas(const CountMatcher& count);
::testing::Matcher<const testbed::ReplicasView&> HasReadyReplicas(const CountMatcher& count);
::testing::Matcher<const testbed::ReplicasView&> HasAvailableReplicas(const CountMatcher& count);
// Does not match when the field is absent.
::testing::Matcher<const testbed::ReplicasView&> HasTerminatingReplicas(const CountMatcher& count);
::testing::Matcher<const testbed::DeploymentView&> HasUpdatedReplicas(const CountMatcher& count);
::testing::Matcher<const testbed::DeploymentView&> IsRolledOut();

internal::StateMatcher Exists();
// It has a deletionTimestamp; a pod must not have ended either.
internal::StateMatcher IsTerminating();
internal::FieldMatcher HasPhase(const std::string& phase);

// Matches a list of Events, as returned by Testbed::Events().
internal::EventMatcher HasEvent(::testing::Matcher<std::string> reason,
                                ::testing::Matcher<std::string> message = ::testing::_);

}  // namespace terrarium::testing
