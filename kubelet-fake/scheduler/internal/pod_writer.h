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
  // Sets the PodScheduled condition to False. Returns false, and never calls `done`, when the condition is
  // already up to date.
  bool ReportUnscheduled(const api::Object& pod, std::string_view reason, const std::string& message,
                         Done done);

  void RecordScheduled(const api::Object& pod, const std::string& node);
  void RecordFailed(const api::Object& pod, std::string message);

 private:
  api::Env env_;
  api::Client& client_;
  controllers::EventRecorder& recorder_;
};

}  // namespace terrarium::kubelet_fake::scheduling
