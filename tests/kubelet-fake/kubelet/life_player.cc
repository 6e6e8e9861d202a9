#include "tests/kubelet-fake/kubelet/life_player.h"

#include <gtest/gtest.h>

#include "api/base/duration.h"
#include "api/core_v1/pod.h"
#include "api/json_access.h"
#include "api/patch/strategic_merge.h"
#include "api/schema/schema.h"

namespace terrarium::kubelet_fake::testing {
namespace {

using api::Find;
using api::ListAt;
using api::StringAt;

std::string State(const Json& status) {
  const std::string restarts = api::IntAt(status, 0, "restartCount") > 0
                                   ? "#" + std::to_string(api::IntAt(status, 0, "restartCount"))
                                   : "";
  if (const Json* ended = Find(status, "state", "terminated")) {
    return "exit" + std::to_string(api::IntAt(*ended, -1, "exitCode")) + restarts;
  }
  if (Find(status, "state", "running") != nullptr)
    return (api::BoolAt(status, "ready") ? "ready" : "up") + restarts;
  const std::string_view reason = StringAt(status, "state", "waiting", "reason");
  if (reason == "ContainerCreating") return "creating" + restarts;
  if (reason == "PodInitializing") return "init" + restarts;
  std::string_view message = StringAt(status, "state", "waiting", "message");
  message.remove_prefix(std::min(message.size(), std::string_view("back-off ").size()));
  return "loop(" + std::string(message.substr(0, message.find(' '))) + ")" + restarts;
}

}  // namespace

Json MakeContainer(const std::string& name, const Json& more) {
  Json out = {{"name", name}, {"image", name + ":1"}, {"imagePullPolicy", "IfNotPresent"}};
  out.update(more);
  return out;
}

Json BoundPod(const Json& script, const Json& spec) {
  Json pod = {{"metadata",
               {{"name", "p"},
                {"namespace", "ns"},
                {"uid", "u-1"},
                {"generation", 1},
                {"annotations", Json::object()}}},
              {"spec",
               {{"nodeName", "node-0"},
                {"restartPolicy", "Always"},
                {"terminationGracePeriodSeconds", 30},
                {"containers", Json::array({MakeContainer("web")})}}},
              {"status", {{"phase", "Pending"}, {"qosClass", "BestEffort"}}}};
  for (const auto& [key, value] : script.items()) {
    pod["metadata"]["annotations"][std::string(api::kScriptPrefix) + key] = value;
  }
  pod["spec"].update(spec);
  return pod;
}

LifePlayer::LifePlayer(Json pod, PodDirections directions)
    : pod_(std::move(pod)), directions_(std::move(directions)) {
  if (!directions_.script) directions_.script = std::make_shared<const api::PodScript>();
  life_.emplace(pod_, now_);
  life_->Direct(Directions(), now_);
  life_->SetAddresses("172.18.0.2", "10.244.0.1");
}

PodDirections LifePlayer::Directions() const {
  auto script = std::make_shared<api::PodScript>(*directions_.script);
  api::PodScript own;
  const api::FieldErrors errors = api::ParsePodScript(api::ObjectAt(pod_, "metadata", "annotations"),
                                                      pod_["spec"], api::Path("annotations"), &own);
  for (const api::FieldError& error : errors) ADD_FAILURE() << error.field << ": " << error.message;
  Overlay(*script, own);
  PodDirections out = directions_;
  const api::HoldPoints hold = script->hold.value_or(api::HoldPoints{});
  if (!out.let_go) out.hold = {out.hold.ready || hold.ready, out.hold.terminating || hold.terminating};
  out.script = std::move(script);
  return out;
}

void LifePlayer::Until(Duration since_beginning) {
  const Time end = kBeginning + since_beginning;
  for (;;) {
    Settle();
    const std::optional<Time> next = removed_ ? std::nullopt : life_->Next(now_);
    if (!next || *next > end) break;
    ASSERT_GT(*next, now_);
    now_ = *next;
  }
  now_ = end;
}

void LifePlayer::Settle() {
  for (int steps = 0; !removed_; ++steps) {
    ASSERT_LT(steps, 100) << "the pod does not come to rest";
    life_->Advance(now_, gates_);
    for (const PodEvent& event : life_->TakeEvents()) {
      const std::string whom = event.container.empty() ? "" : event.container + ": ";
      events_.push_back(whom + std::string(event.type) + " " + std::string(event.reason) + " " +
                        event.message);
    }
    Json patch = life_->TakePatch();
    if (!patch.is_null()) {
      auto patched =
          api::ApplyStrategicMergePatch(pod_, patch, api::Schema::Get().Must("io.k8s.api.core.v1.Pod"));
      ASSERT_TRUE(patched.ok()) << patched.status().message;
      EXPECT_NE(*patched, pod_) << "a report that changes nothing: " << patch;
      pod_ = std::move(*patched);
      lines_.push_back(Line());
    } else if (life_->WantsRemoval()) {
      lines_.push_back(api::FormatDuration(now_ - kBeginning) + " removed");
      removed_ = true;
    } else if (const std::optional<Time> next = life_->Next(now_); !next || *next > now_) {
      return;
    }
  }
}

std::string LifePlayer::Line() const {
  std::string out =
      api::FormatDuration(now_ - kBeginning) + " " + std::string(StringAt(pod_, "status", "phase"));
  if (!StringAt(pod_, "status", "reason").empty()) out.append("/").append(StringAt(pod_, "status", "reason"));
  out += ' ';
  for (const char* type : {"PodReadyToStartContainers", "Initialized", "ContainersReady", "Ready"}) {
    const Json* condition = api::FindCondition(pod_, type);
    const bool holds = condition != nullptr && StringAt(*condition, "status") == "True";
    out += !holds ? '-' : type == std::string_view("PodReadyToStartContainers") ? 'S' : type[0];
  }
  for (const char* list : {"initContainerStatuses", "containerStatuses"}) {
    for (const Json& status : ListAt(pod_, "status", list)) {
      out.append(" ").append(StringAt(status, "name")).append("=").append(State(status));
    }
  }
  return out;
}

void LifePlayer::Delete(std::int64_t grace_seconds) {
  Json& metadata = pod_["metadata"];
  if (!metadata.contains("deletionTimestamp"))
    metadata["generation"] = api::IntAt(metadata, 0, "generation") + 1;
  metadata["deletionTimestamp"] = api::FormatTime(now_ + std::chrono::seconds(grace_seconds));
  metadata["deletionGracePeriodSeconds"] = grace_seconds;
  life_->Observe(pod_, now_);
}

void LifePlayer::SetScript(const Json& script) {
  pod_["metadata"]["annotations"] = BoundPod(script)["metadata"]["annotations"];
  life_->Observe(pod_, now_);
  life_->Direct(Directions(), now_);
}

void LifePlayer::SetStatusOfGate(const std::string& type, const std::string& status) {
  pod_["status"]["conditions"].push_back({{"type", type}, {"status", status}});
  life_->Observe(pod_, now_);
}

void LifePlayer::Direct(std::function<void(PodDirections&)> change) {
  change(directions_);
  life_->Direct(Directions(), now_);
}

void LifePlayer::Restart() {
  life_.emplace(pod_, now_);
  life_->Direct(Directions(), now_);
}

}  // namespace terrarium::kubelet_fake::testing
