#pragma once

// The scheduler's writes about pods: bindings, conditions and events.

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "api/base/env.h"
#include "api/base/status.h"
#include "api/client.h"
#include "api/object.h"
#include "controllers/runtime/event_recorder.h"

namespace terrarium::kubelet_fake::scheduling {

inline constexpr std::string_view kSchedulerName = "default-scheduler";

class PodWriter {
 public:
  // Called with the outcome of a request. nullopt: it succeeded.
  using Done = std::function<void(const std::optional<api::Status>& failure)>;

  PodWriter(const api::Env& env, api::Client& client, controllers::EventRecorder& recorder)
      : env_(env), client_(client), recorder_(recorder) {}

  void Bind(const api::Object& pod, const std::string& node, Done done);
  // Sets the PodScheduled condition to False, and the nominated node if it is given ("" for none). Returns
  // false, and never calls `done`, when both are already up to date.
  bool ReportUnscheduled(const api::Object& pod, std::string_view reason, const std::string& message,
                         const std::optional<std::string>& nomination, Done done);
  void SetNomination(const api::Object& pod, const std::string& node);
  // A no-op when the pod has none.
  void ClearNomination(const api::Object& pod);

  void RecordScheduled(const api::Object& pod, const std::string& node);
  void RecordFailed(const api::Object& pod, std::string message);
  void RecordPreempted(const api::Object& victim, const api::Object& preemptor, const std::string& node);

 private:
  api::Env env_;
  api::Client& client_;
  controllers::EventRecorder& recorder_;
};

}  // namespace terrarium::kubelet_fake::scheduling
