#include "tests/matrix/job_cell.h"

#include <chrono>
#include <map>
#include <ostream>

#include "api/core_v1/pod.h"
#include "api/json_access.h"
#include "kubelet-fake/kubelet/pod_rules.h"
#include "testbed/embedding/testbed.h"
#include "tests/kubelet-fake/kubelet/endless_pods.h"
#include "tests/matrix/cell_play.h"

namespace terrarium::matrix {
namespace {

using api::Json;
using api::ObjectPtr;
using namespace std::chrono_literals;

constexpr const char* kGate = "JobPodReplacementPolicy";
const api::ObjectName kJob{"default", "j"};

class JobPlay : public CellPlay {
 public:
  explicit JobPlay(const JobCell& cell)
      : CellPlay(cell.Name(), cell.history),
        cell_(cell),
        model_(cell.action, cell.policy, cell.indexed),
        bed_({.controllers = "job-controller,node-lifecycle-controller",
              .nodes = 1,
              .pod_defaults = kubelet_fake::EndlessPods(),
              .on_violation = Violations()}) {}

 private:
  // Longer than the second for which the Job controller batches pod events.
  void Pass() { bed_.clock().Advance(3s); }
  // Longer than the backoff after the failures of a cell: 10 s, doubled for each further one.
  void PassBackoff() { bed_.clock().Advance(42s); }

  void Switch() override {
    SetGate("apiserver", phase().apiserver);
    SetGate("controller-manager", phase().controller_manager);
    PassBackoff();
    model_.Switch(phase());
  }
  void SetGate(const std::string& component, bool on) { bed_.Must(bed_.SetGates(component, {{kGate, on}})); }

  void Apply() override {
    if (number() == 0) {
      Json job = {{"metadata", {{"name", kJob.name}}},
                  {"spec",
                   {{"parallelism", kParallelism},
                    {"completions", 10},
                    {"backoffLimit", 100},
                    {"template",
                     {{"metadata", {{"annotations", {{"terrarium.dev/hold", "terminating"}}}}},
                      {"spec",
                       {{"restartPolicy", "Never"},
                        {"containers", Json::array({Json{{"name", "c"}, {"image", "i"}}})}}}}}}}};
      if (cell_.indexed) job["spec"]["completionMode"] = "Indexed";
      if (cell_.policy) job["spec"]["podReplacementPolicy"] = *cell_.policy;
      bed_.Must(bed_.Create("jobs", kJob.ns, std::move(job)));
    } else {
      Json patch = {{"metadata", {{"labels", {{"applied", std::to_string(number())}}}}}};
      if (cell_.policy) patch["spec"]["podReplacementPolicy"] = *cell_.policy;
      bed_.Must(bed_.Patch("jobs", kJob, patch));
    }
    Pass();
    model_.Apply();
  }

  void Scale(int parallelism) {
    bed_.Must(bed_.Patch("jobs", kJob, {{"spec", {{"parallelism", parallelism}}}}));
    Pass();
  }

  void Begin() override {
    Scale(kParallelism);
    switch (cell_.action) {
      case JobAction::kDeletion: bed_.Must(bed_.Delete("pods", Pods(false)[0])); break;
      case JobAction::kEviction: bed_.Must(bed_.Evict(Pods(false)[0])); break;
      case JobAction::kScaleUp:
        Scale(kParallelismDown);
        Scale(kParallelism);
        break;
      case JobAction::kScaleDown: Scale(kParallelismDown); break;
    }
    PassBackoff();
    model_.Begin();
  }

  void End() override {
    for (const api::ObjectName& pod : Pods(true)) {
      auto released =
          bed_.rules().Release({{"namespace", pod.ns}, {"pod", pod.name}, {"outcome", {{"exitCode", 1}}}});
      if (!released.ok()) Fail(released.status().message);
    }
    PassBackoff();
    model_.End();
  }

  std::vector<api::ObjectName> Pods(bool terminating) {
    std::vector<api::ObjectName> pods;
    for (const ObjectPtr& pod : bed_.List("pods", kJob.ns)) {
      const std::string& phase = api::PodPhase(*pod);
      if (phase != "Succeeded" && phase != "Failed" && pod->header().deleting == terminating)
        pods.push_back({pod->header().ns, pod->header().name});
    }
    return pods;
  }

  bool AnIndexHasTwoPods() {
    std::map<std::string, int> pods;
    for (bool terminating : {false, true})
      for (const api::ObjectName& name : Pods(terminating))
        ++pods[std::string(api::StringAt(*bed_.Get("pods", name.ns, name.name)->Document(), "metadata",
                                         "annotations", "batch.kubernetes.io/job-completion-index"))];
    for (const auto& [index, count] : pods)
      if (count > 1) return true;
    return false;
  }

  void Check(Moment& moment) override {
    JobSight sight;
    const Json document = bed_.Get("jobs", kJob.ns, kJob.name)->Parse();
    if (const Json* policy = api::Find(document, "spec", "podReplacementPolicy"))
      sight.policy = policy->get<std::string>();
    sight.active = static_cast<int>(Pods(false).size());
    sight.terminating = static_cast<int>(Pods(true).size());
    sight.failed = static_cast<int>(api::IntAt(document, 0, "status", "failed"));
    if (const Json* reported = api::Find(document, "status", "terminating"))
      sight.reported = reported->get<int>();
    sight.index_twice = cell_.indexed && AnIndexHasTwoPods();
    model_.Check(sight, moment);
  }

  const JobCell& cell_;
  JobModel model_;
  testbed::Testbed bed_;
};

}  // namespace

std::string JobCell::Name() const {
  return history.Name() + "_" + matrix::NameOf(policy.value_or("NoPolicy")) + "_" +
         (indexed ? "Indexed" : "NonIndexed") + matrix::NameOf(action);
}

std::ostream& operator<<(std::ostream& out, const JobCell& cell) { return out << cell.Name(); }

std::vector<JobCell> AllJobCells() {
  std::vector<JobCell> cells;
  const std::optional<std::string> policies[] = {std::nullopt, "TerminatingOrFailed", "Failed"};
  for (const History& history : AllHistories())
    for (const auto& policy : policies)
      for (JobAction action : kJobActions)
        for (bool indexed : {false, true}) cells.push_back({history, policy, action, indexed});
  return cells;
}

CellReport Play(const JobCell& cell) { return JobPlay(cell).Play(); }

}  // namespace terrarium::matrix
