#include "tests/controllers/job/job_cluster.h"

#include <algorithm>
#include <utility>

#include <gtest/gtest.h>

#include "apiserver/in_process_client.h"
#include "controllers/job/job_controller.h"
#include "kubelet-fake/kubelet/pod_rules.h"
#include "tests/kubelet-fake/kubelet/endless_pods.h"

namespace terrarium::controllers::job::testing {
namespace {

std::string Describe(const api::WriteRequest& request) {
  static constexpr const char* kVerbs[] = {"create", "update", "patch", "delete"};
  std::string out = kVerbs[static_cast<int>(request.verb)];
  out += " " + request.resource;
  if (!request.subresource.empty()) out += "/" + request.subresource;
  if (!request.object.name.empty()) out += " " + request.object.name;
  return out;
}

api::FeatureGates GatesOf(const std::string& text) { return *api::FeatureGates().With(text); }

bool HasFinalizer(const Json& pod) {
  const Json& finalizers = api::ListAt(pod, "metadata", "finalizers");
  return std::find(finalizers.begin(), finalizers.end(), "batch.kubernetes.io/job-tracking") !=
         finalizers.end();
}

}  // namespace

void MortalClient::Send(api::WriteRequest request, WriteDone done) {
  if (request.resource == "events") return next_->Send(std::move(request), std::move(done));
  if (dead_) return;
  writes.push_back(Describe(request));
  const bool dies = dies_at > 0 && --dies_at == 0;
  if (dies) {
    dead_ = true;
    died();
    if (last_write_arrives) next_->Send(std::move(request), [](Written) {});
    return;
  }
  std::optional<api::Status> refused;
  if (refuse) refused = refuse(request);
  if (refused) return env_.executor.Post([done, status = *refused] { done(status); });
  using Verb = api::WriteRequest::Verb;
  const bool changes = request.verb == Verb::kUpdate || request.verb == Verb::kPatch;
  if (!changes) return next_->Send(std::move(request), std::move(done));
  api::Result<ObjectPtr> before = next_->Get(request.resource, request.object);
  next_->Send(std::move(request), [before, done, what = writes.back()](Written written) {
    if (before.ok() && written.ok()) {
      EXPECT_NE((*written)->revision(), (*before)->revision()) << what << " changed nothing";
    }
    done(std::move(written));
  });
}

JobCluster::JobCluster(JobClusterOptions options)
    : bed_({.seed = options.seed,
            .feature_gates = options.apiserver_gates,
            .controllers = options.controllers,
            .nodes = options.nodes,
            .pod_defaults = kubelet_fake::EndlessPods()}),
      prng_(options.seed),
      env_{bed_.control_plane().env().clock, bed_.control_plane().runtime().Lane("job-controller"), prng_,
           gates_, bed_.control_plane().env().log} {
  StartController(options.gates);
}

JobCluster::~JobCluster() { StopController(); }

void JobCluster::StopController() {
  controller_.reset();
  recorder_.reset();
  informers_.reset();
}

void JobCluster::MakeMonitor() {
  testbed::invariants::MonitorOptions options;
  options.controllers = {"job-controller"};
  options.conduct = {true, gates_, gates_};
  options.on_violation = [](const testbed::invariants::Violation& violation) {
    ADD_FAILURE() << violation.String();
  };
  monitors_.push_back(std::make_unique<testbed::invariants::Monitor>(std::move(options)));
  monitors_.back()->Follow(bed_.control_plane().store(), env_.clock);
}

void JobCluster::StartController(const std::string& gates) {
  const bool same_gates = !monitors_.empty() && gates == gates_text_;
  gates_text_ = gates;
  gates_ = GatesOf(gates);
  if (!same_gates) MakeMonitor();
  clients_.push_back(std::make_unique<MortalClient>(
      env_, monitors_.back()->Watched(apiserver::MakeInProcessClient(env_, bed_.control_plane().handler(),
                                                                     bed_.control_plane().store(), {}),
                                      std::string(testbed::invariants::kControllerManager))));
  informers_ = std::make_unique<InformerSet>(env_, *clients_.back());
  recorder_ = std::make_unique<EventRecorder>(env_, *clients_.back());
  controller_ = MakeJobController({env_, *clients_.back(), *informers_, *recorder_, metrics_, why_});
  informers_->OnSynced([this] { controller_->Start(); });
  informers_->Start();
}

void JobCluster::CrashAt(int nth_write, bool write_arrives) {
  client().dies_at = nth_write;
  client().last_write_arrives = write_arrives;
  client().died = [this] {
    ++crashes_;
    // The dying component is on the stack.
    env_.executor.Post([this] { RestartController(gates_text_); });
  };
}

ObjectPtr JobCluster::AddJob(const Json& spec, const Json& script, const std::string& name) {
  Json annotations = Json::object();
  for (const auto& [key, value] : script.items()) annotations["terrarium.dev/" + key] = value;
  Json job = {{"metadata", {{"name", name}}},
              {"spec",
               {{"template",
                 {{"metadata", {{"annotations", annotations}}},
                  {"spec",
                   {{"restartPolicy", "Never"},
                    {"containers", Json::array({Json{{"name", "c"}, {"image", "nginx:1"}}})}}}}}}}};
  if (spec.is_object()) job["spec"].merge_patch(spec);
  return bed_.Must(bed_.Create("jobs", "default", std::move(job)));
}

void JobCluster::Patch(const Json& patch, const std::string& name) {
  bed_.Must(bed_.Patch("jobs", {"default", name}, patch));
}

void JobCluster::DeletePod(const std::string& name, std::optional<std::int64_t> grace) {
  bed_.Must(bed_.Delete("pods", {"default", name}, {.grace_period_seconds = grace}));
}

void JobCluster::Script(const std::string& selector, const Json& script) {
  const std::string name = "script-" + std::to_string(++scripts_);
  EXPECT_TRUE(bed_.rules().Add({{"name", name}, {"selector", selector}, {"script", script}}).ok());
}

void JobCluster::EndPod(const std::string& name, int exit_code) {
  EXPECT_TRUE(bed_.rules().Crash({{"namespace", "default"}, {"pod", name}, {"exitCode", exit_code}}).ok());
}

void JobCluster::Release(const std::string& name, std::optional<int> exit_code) {
  Json request = {{"namespace", "default"}, {"pod", name}};
  if (exit_code) request["outcome"] = {{"exitCode", *exit_code}};
  EXPECT_TRUE(bed_.rules().Release(request).ok());
}

void JobCluster::Idle(api::Duration limit) {
  EXPECT_EQ(bed_.clock().RunUntilIdle(limit).why, testbed::RunOutcome::Why::kIdle);
  if (controller_ != nullptr) monitors_.back()->Idle();
}

std::shared_ptr<const Json> JobCluster::Job(const std::string& name) {
  ObjectPtr job = bed_.Get("jobs", "default", name);
  return job == nullptr ? nullptr : job->Document();
}

Json JobCluster::Status(const std::string& name) { return api::ObjectAt(*Job(name), "status"); }

std::string JobCluster::Counts(const std::string& name) {
  const Json status = Status(name);
  std::string out;
  for (const char* key : {"active", "ready", "terminating", "succeeded", "failed"}) {
    if (!status.contains(key)) continue;
    out += (out.empty() ? "" : " ") + std::string(key) + " " + status[key].dump();
  }
  return out;
}

std::string JobCluster::Conditions(const std::string& name) {
  const Json status = Status(name);
  std::string out;
  for (const Json& condition : api::ListAt(status, "conditions")) {
    out += out.empty() ? "" : " ";
    out += condition["status"] == "True" ? "" : "!";
    out += condition["type"].get<std::string>() + "(" + condition.value("reason", "") + ")";
  }
  return out;
}

std::vector<ObjectPtr> JobCluster::Pods(const std::string& job) {
  std::vector<ObjectPtr> out;
  for (const ObjectPtr& pod : bed_.List("pods", "default")) {
    const std::string* label = api::FindLabel(pod->header(), "job-name");
    if (label != nullptr && *label == job) out.push_back(pod);
  }
  return out;
}

std::vector<std::string> JobCluster::ActivePods(const std::string& job) {
  std::vector<std::string> out;
  for (const ObjectPtr& pod : Pods(job)) {
    std::shared_ptr<const Json> document = pod->Document();
    std::string_view phase = api::StringAt(*document, "status", "phase");
    if (!pod->header().deleting && phase != "Succeeded" && phase != "Failed")
      out.push_back(pod->header().name);
  }
  return out;
}

int JobCluster::FinalizersLeft() {
  std::vector<ObjectPtr> pods = bed_.List("pods");
  return static_cast<int>(std::count_if(pods.begin(), pods.end(),
                                        [](const ObjectPtr& pod) { return HasFinalizer(*pod->Document()); }));
}

std::vector<std::string> JobCluster::Events() {
  std::vector<std::string> out;
  for (const ObjectPtr& event : bed_.List("events", "default")) {
    std::shared_ptr<const Json> document = event->Document();
    if (api::StringAt(*document, "involvedObject", "kind") != "Job") continue;
    EXPECT_EQ(api::StringAt(*document, "source", "component"), "job-controller");
    std::string line(api::StringAt(*document, "type"));
    line += " " + std::string(api::StringAt(*document, "reason"));
    out.push_back(line + ": " + std::string(api::StringAt(*document, "message")));
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::string JobCluster::Metric(const std::string& series) {
  const std::string text = metrics_.Text();
  const std::size_t at = text.find("\n" + series + " ");
  if (at == std::string::npos) return "";
  const std::size_t value = at + series.size() + 2;
  return text.substr(value, text.find('\n', value) - value);
}

}  // namespace terrarium::controllers::job::testing
