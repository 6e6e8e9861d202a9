#include "tests/kubelet-fake/scheduler/component.h"

#include <algorithm>
#include <sstream>

#include <gtest/gtest.h>

#include "api/json_access.h"
#include "apiserver/in_process_client.h"
#include "tests/kubelet-fake/scheduler/objects.h"

namespace terrarium::kubelet_fake {
namespace {

using api::Json;
using api::StringAt;

api::ObjectName InDefault(const std::string& name) { return {"default", name}; }

}  // namespace

void FaultyClient::Refuse(const std::string& subresource, api::Status status) {
  refusals_.emplace_back(subresource, std::move(status));
}

void FaultyClient::RefuseResource(const std::string& resource, api::Status status) {
  resource_refusals_.emplace_back(resource, std::move(status));
}

void FaultyClient::Release() {
  held_subresource_.clear();
  for (auto& send : std::exchange(held_, {})) send();
}

int FaultyClient::Sent(const std::string& subresource) const {
  return static_cast<int>(std::count(sent_.begin(), sent_.end(), subresource));
}

void FaultyClient::Send(api::WriteRequest request, WriteDone done) {
  sent_.push_back(request.subresource);
  for (const auto& [refusals, key] :
       {std::pair(&refusals_, &request.subresource), std::pair(&resource_refusals_, &request.resource)}) {
    const auto refusal = std::find_if(refusals->begin(), refusals->end(),
                                      [key = key](const auto& r) { return r.first == *key; });
    if (refusal == refusals->end()) continue;
    // The real client sends a request that must fail, so that the answer takes the usual path. Only its
    // message is replaced.
    api::Status status = refusal->second;
    refusals->erase(refusal);
    request.object.name = "nobody";
    return next_->Send(std::move(request), [done, status](const Written&) { done(status); });
  }
  if (!held_subresource_.empty() && request.subresource == held_subresource_) {
    held_.push_back([this, request, done] { next_->Send(request, done); });
    return;
  }
  next_->Send(std::move(request), std::move(done));
}

api::Result<api::ObjectPtr> FaultyClient::Get(std::string_view resource, const api::ObjectName& name) {
  return next_->Get(resource, name);
}

api::Result<api::ObjectList> FaultyClient::List(std::string_view resource,
                                                const std::optional<std::string>& ns) {
  return next_->List(resource, ns);
}

api::Result<std::unique_ptr<api::ClientWatch>> FaultyClient::Watch(std::string_view resource,
                                                                   std::int64_t from_revision) {
  return next_->Watch(resource, from_revision);
}

std::string Attempts(const char* result) {
  return std::string("scheduler_schedule_attempts_total{profile=\"default-scheduler\",result=\"") + result +
         "\"}";
}

std::string Pending(const char* queue) {
  return std::string("scheduler_pending_pods{queue=\"") + queue + "\"}";
}

SchedulerCluster::SchedulerCluster(std::uint64_t seed)
    : bed_({.seed = seed, .controllers = "-*", .kubelet = false, .scheduler = false, .nodes = 0}),
      prng_(seed),
      env_{bed_.control_plane().env().clock, bed_.control_plane().runtime().Lane("scheduler"), prng_, gates_,
           bed_.control_plane().env().log} {
  auto client = std::make_unique<FaultyClient>(
      apiserver::MakeInProcessClient(env_, bed_.control_plane().handler(), bed_.control_plane().store(), {}));
  client_ = client.get();
  owned_client_ = std::move(client);
  informers_ = std::make_unique<controllers::InformerSet>(env_, *client_);
  recorder_ = std::make_unique<controllers::EventRecorder>(env_, *client_);
  scheduler_ = std::make_unique<Scheduler>(env_, *client_, *informers_, *recorder_, metrics_, why_);
  env_.executor.Post([this] {
    informers_->OnSynced([this] { scheduler_->Start(); });
    informers_->Start();
  });
  Settle();
}

SchedulerCluster::~SchedulerCluster() = default;

void SchedulerCluster::Settle() { bed_.clock().Settle(); }

void SchedulerCluster::StopScheduler() { scheduler_.reset(); }

void SchedulerCluster::AddNode(const std::string& name, const Json& more) {
  const Json node = scheduling::NodeDocument(name, more);
  bed_.Must(bed_.Create("nodes", "", node));
  // Admission taints a new node as not ready, and there is no controller here to remove the taint.
  const Json* taints = api::Find(node, "spec", "taints");
  bed_.Must(bed_.Patch("nodes", {"", name}, {{"spec", {{"taints", nullptr}}}}));
  if (taints != nullptr) bed_.Must(bed_.Patch("nodes", {"", name}, {{"spec", {{"taints", *taints}}}}));
}

void SchedulerCluster::PatchNode(const std::string& name, const Json& patch) {
  bed_.Must(bed_.Patch("nodes", {"", name}, patch));
}

void SchedulerCluster::AddPod(const std::string& name, const std::string& cpu, const Json& more) {
  Json pod = scheduling::PodDocument(name, more);
  if (!cpu.empty()) pod["spec"]["containers"][0]["resources"]["requests"]["cpu"] = cpu;
  bed_.Must(bed_.Create("pods", "default", pod));
}

void SchedulerCluster::DeletePod(const std::string& name) {
  bed_.Must(bed_.Delete("pods", InDefault(name), {.grace_period_seconds = 0}));
}

void SchedulerCluster::PatchPod(const std::string& name, const Json& patch, const std::string& subresource) {
  bed_.Must(bed_.Patch("pods", InDefault(name), patch, subresource));
}

std::shared_ptr<const Json> SchedulerCluster::PodDocument(const std::string& name) {
  return bed_.Get("pods", "default", name)->Document();
}

std::string SchedulerCluster::NodeOf(const std::string& pod) {
  const auto document = PodDocument(pod);
  return std::string(StringAt(*document, "spec", "nodeName"));
}

Json SchedulerCluster::ScheduledCondition(const std::string& pod) {
  const auto document = PodDocument(pod);
  for (const Json& condition : api::ListAt(*document, "status", "conditions")) {
    if (StringAt(condition, "type") == "PodScheduled") return condition;
  }
  return nullptr;
}

std::vector<std::string> SchedulerCluster::EventsOf(const std::string& pod) {
  std::vector<std::string> out;
  for (const api::ObjectPtr& object : bed_.List("events", "default")) {
    const auto event = object->Document();
    if (StringAt(*event, "involvedObject", "name") != pod) continue;
    EXPECT_EQ(StringAt(*event, "reportingComponent"), "default-scheduler");
    out.push_back(std::string(StringAt(*event, "reason")) + ": " + std::string(StringAt(*event, "message")));
  }
  return out;
}

double SchedulerCluster::Metric(const std::string& series) {
  std::istringstream lines(metrics_.Text());
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(series)) return std::stod(line.substr(line.rfind(' ')));
  }
  ADD_FAILURE() << series << " is not there";
  return -1;
}

}  // namespace terrarium::kubelet_fake
