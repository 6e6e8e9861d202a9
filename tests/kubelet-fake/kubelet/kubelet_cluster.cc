#include "tests/kubelet-fake/kubelet/kubelet_cluster.h"

#include <utility>

#include "api/base/errors.h"
#include "api/json_access.h"
#include "apiserver/in_process_client.h"

namespace terrarium::kubelet_fake::testing {

using api::Json;

void FakeNodes::Set(const std::string& node, bool up) {
  if (up)
    down_.erase(node);
  else
    down_[node] = true;
  for (const auto& changed : changed_) changed(node);
}

void RecordingClient::Send(api::WriteRequest request, WriteDone done) {
  if (request.resource != "pods") return next().Send(std::move(request), std::move(done));
  writes.push_back(request);
  if (auto before = std::exchange(before_next, nullptr)) before();
  if (failures_left > 0) {
    --failures_left;
    // The real client sends a request that must fail, so that the answer takes the usual path. Only its
    // message is replaced.
    request.object.name = "nobody";
    return next().Send(std::move(request),
                       [done](const Written&) { done(api::ServiceUnavailable("the apiserver is away")); });
  }
  next().Send(std::move(request), std::move(done));
}

KubeletCluster::KubeletCluster(KubeletOptions options)
    : bed_({.controllers = "-*", .kubelet = false, .scheduler = false, .nodes = 0}),
      prng_(1),
      env_{bed_.control_plane().env().clock, bed_.control_plane().runtime().Lane("kubelet"), prng_, gates_,
           bed_.control_plane().env().log},
      options_(std::move(options)) {
  if (!options_.rule_book) options_.rule_book = std::make_shared<RuleBook>();
  client_ = std::make_unique<RecordingClient>(
      apiserver::MakeInProcessClient(env_, bed_.control_plane().handler(), bed_.control_plane().store(), {}));
  StartKubelet();
}

KubeletCluster::~KubeletCluster() = default;

void KubeletCluster::StopKubelet() {
  kubelet_.reset();
  recorder_.reset();
  informers_.reset();
}

void KubeletCluster::StartKubelet() {
  informers_ = std::make_unique<controllers::InformerSet>(env_, *client_);
  recorder_ = std::make_unique<controllers::EventRecorder>(env_, *client_);
  kubelet_ = std::make_unique<Kubelet>(env_, *client_, *informers_, *recorder_, nodes_, options_);
  env_.executor.Post([this] {
    informers_->OnSynced([this] { kubelet_->Start(); });
    informers_->Start();
  });
  bed_.clock().Settle();
}

void KubeletCluster::RestartKubelet() {
  StopKubelet();
  StartKubelet();
}

void KubeletCluster::AddPod(const std::string& name, const Json& script, const Json& more) {
  Json pod = {{"metadata", {{"name", name}, {"annotations", Json::object()}, {"labels", {{"app", name}}}}},
              {"spec",
               {{"nodeName", "node-0"},
                {"containers", Json::array({Json{{"name", "web"}, {"image", "nginx:1.25"}}})}}}};
  for (const auto& [key, value] : script.items()) {
    pod["metadata"]["annotations"][std::string(api::kScriptPrefix) + key] = value;
  }
  pod.merge_patch(more);
  bed_.Must(bed_.Create("pods", "default", std::move(pod)));
  bed_.clock().Settle();
}

void KubeletCluster::DeletePod(const std::string& name, std::optional<std::int64_t> grace) {
  bed_.Must(bed_.Delete("pods", {"default", name}, {.grace_period_seconds = grace}));
  bed_.clock().Settle();
}

void KubeletCluster::Pass(api::Duration duration) { bed_.clock().Advance(duration); }

std::shared_ptr<const Json> KubeletCluster::Pod(const std::string& name) {
  const api::ObjectPtr pod = bed_.Get("pods", "default", name);
  return pod != nullptr ? pod->Document() : nullptr;
}

std::string KubeletCluster::Phase(const std::string& name) {
  const auto pod = Pod(name);
  return pod != nullptr ? std::string(api::StringAt(*pod, "status", "phase")) : "";
}

std::vector<std::string> KubeletCluster::WritesOf(const std::string& name) const {
  std::vector<std::string> out;
  for (const api::WriteRequest& write : client_->writes) {
    if (write.object.name != name) continue;
    if (write.verb == api::WriteRequest::Verb::kDelete) {
      out.push_back("DELETE");
    } else {
      const std::string_view phase = api::StringAt(write.body, "status", "phase");
      out.push_back(phase.empty() ? "-" : std::string(phase));
    }
  }
  return out;
}

}  // namespace terrarium::kubelet_fake::testing
