#pragma once

// Typed views of an object's fields, under their Kubernetes names. A view is a snapshot: get another view to
// see later changes. For an absent object exists() is false and every field is empty or 0.
//
//   DeploymentView web = bed.Deployment("web");
//   EXPECT_EQ(web.ready_replicas(), 3);

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/clock.h"
#include "api/json.h"
#include "api/json_access.h"
#include "api/object.h"

namespace terrarium::testbed {

struct ConditionView {
  std::string type;
  std::string status;  // "True", "False", "Unknown"
  std::string reason;
  std::string message;
  std::optional<api::Time> last_transition_time;
};

class ObjectView {
 public:
  explicit ObjectView(api::ObjectPtr object);  // nullptr: the object is absent

  bool exists() const { return object_ != nullptr; }
  explicit operator bool() const { return exists(); }
  // REQUIRES: exists()
  const api::ObjectPtr& object() const { return object_; }

  const std::string& name() const { return header_->name; }
  const std::string& ns() const { return header_->ns; }
  const std::string& uid() const { return header_->uid; }
  std::int64_t revision() const { return header_->revision; }
  std::int64_t generation() const { return Int("metadata", "generation"); }
  std::string label(std::string_view key) const { return Text("metadata", "labels", key); }
  std::string annotation(std::string_view key) const { return Text("metadata", "annotations", key); }
  bool deleting() const { return header_->deleting; }  // has a deletionTimestamp
  std::string controller() const;                      // name of the controlling owner

  std::vector<ConditionView> conditions() const;
  std::optional<ConditionView> condition(std::string_view type) const;
  bool IsTrue(std::string_view type) const;

  // The whole object, without kind and apiVersion.
  const api::Json& document() const { return *document_; }
  // The field at a kubectl jsonpath such as ".status.phase". Null if the field is absent or the path is
  // malformed.
  api::Json field(std::string_view path) const;

 protected:
  template <typename... Keys>
  std::int64_t Int(Keys... keys) const {
    return api::IntAt(*document_, 0, keys...);
  }
  template <typename... Keys>
  std::optional<std::int64_t> MaybeInt(Keys... keys) const {
    return api::Find(*document_, keys...) == nullptr ? std::nullopt : std::optional(Int(keys...));
  }
  template <typename... Keys>
  std::string Text(Keys... keys) const {
    return std::string(api::StringAt(*document_, keys...));
  }
  template <typename... Keys>
  std::optional<api::Time> When(Keys... keys) const {
    return api::ParseTime(api::StringAt(*document_, keys...));
  }

 private:
  api::ObjectPtr object_;
  const api::ObjectHeader* header_;
  std::shared_ptr<const api::Json> document_;
};

// The fields that Deployments and ReplicaSets have in common.
class ReplicasView : public ObjectView {
 public:
  using ObjectView::ObjectView;
  std::int64_t desired_replicas() const { return Int("spec", "replicas"); }
  std::int64_t replicas() const { return Int("status", "replicas"); }
  std::int64_t ready_replicas() const { return Int("status", "readyReplicas"); }
  std::int64_t available_replicas() const { return Int("status", "availableReplicas"); }
  // nullopt: the field is absent, because the feature gate is off or the controller has not reported it yet.
  std::optional<std::int64_t> terminating_replicas() const {
    return MaybeInt("status", "terminatingReplicas");
  }
  std::int64_t observed_generation() const { return Int("status", "observedGeneration"); }
};

class DeploymentView : public ReplicasView {
 public:
  static constexpr const char* kResource = "deployments";
  using ReplicasView::ReplicasView;
  std::int64_t updated_replicas() const { return Int("status", "updatedReplicas"); }
  std::int64_t unavailable_replicas() const { return Int("status", "unavailableReplicas"); }
  std::string strategy() const { return Text("spec", "strategy", "type"); }
  std::string pod_replacement_policy() const { return Text("spec", "podReplacementPolicy"); }
  std::string revision_number() const { return annotation("deployment.kubernetes.io/revision"); }
  // As in `kubectl rollout status`: all replicas run the newest template, no old replica is left, and all are
  // available.
  bool rolled_out() const;
};

class ReplicaSetView : public ReplicasView {
 public:
  static constexpr const char* kResource = "replicasets";
  using ReplicasView::ReplicasView;
  std::int64_t fully_labeled_replicas() const { return Int("status", "fullyLabeledReplicas"); }
};

class JobView : public ObjectView {
 public:
  static constexpr const char* kResource = "jobs";
  using ObjectView::ObjectView;
  std::optional<std::int64_t> parallelism() const { return MaybeInt("spec", "parallelism"); }
  std::optional<std::int64_t> completions() const { return MaybeInt("spec", "completions"); }
  std::string pod_replacement_policy() const { return Text("spec", "podReplacementPolicy"); }
  std::int64_t active() const { return Int("status", "active"); }
  std::int64_t ready() const { return Int("status", "ready"); }
  std::optional<std::int64_t> terminating() const { return MaybeInt("status", "terminating"); }
  std::int64_t succeeded() const { return Int("status", "succeeded"); }
  std::int64_t failed() const { return Int("status", "failed"); }
  std::string completed_indexes() const { return Text("status", "completedIndexes"); }
  std::string failed_indexes() const { return Text("status", "failedIndexes"); }
  std::optional<api::Time> start_time() const { return When("status", "startTime"); }
  std::optional<api::Time> completion_time() const { return When("status", "completionTime"); }
  bool complete() const { return IsTrue("Complete"); }
  bool has_failed() const { return IsTrue("Failed"); }
};

class PodView : public ObjectView {
 public:
  static constexpr const char* kResource = "pods";
  using ObjectView::ObjectView;
  std::string phase() const { return Text("status", "phase"); }
  std::string node() const { return Text("spec", "nodeName"); }
  std::string ip() const { return Text("status", "podIP"); }
  std::string reason() const { return Text("status", "reason"); }
  bool ready() const { return IsTrue("Ready"); }
  // Being deleted, and neither Succeeded nor Failed, as the controllers count terminating pods.
  bool terminating() const;
  std::int64_t restarts() const;  // of all its containers
  std::string completion_index() const { return annotation("batch.kubernetes.io/job-completion-index"); }
};

class EventView : public ObjectView {
 public:
  static constexpr const char* kResource = "events";
  using ObjectView::ObjectView;
  std::string type() const { return Text("type"); }  // "Normal", "Warning"
  std::string reason() const { return Text("reason"); }
  std::string message() const { return Text("message"); }
  std::string regarding_kind() const { return Text("involvedObject", "kind"); }
  std::string regarding_name() const { return Text("involvedObject", "name"); }
  std::string reporter() const;
  std::int64_t count() const;  // how often it has happened
};

class NodeView : public ObjectView {
 public:
  static constexpr const char* kResource = "nodes";
  using ObjectView::ObjectView;
  bool ready() const { return IsTrue("Ready"); }
  bool schedulable() const { return exists() && !api::BoolAt(document(), "spec", "unschedulable"); }
  bool has_taint(std::string_view key) const;
};

}  // namespace terrarium::testbed
