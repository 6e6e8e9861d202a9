#include "kubelet-fake/scheduler/internal/diagnosis.h"

#include <algorithm>
#include <vector>

namespace terrarium::kubelet_fake::scheduling {
namespace {

constexpr std::string_view kReasonTexts[] = {
    "node(s) were unschedulable",
    "node(s) had untolerated taint(s)",
    "node(s) didn't match Pod's node affinity/selector",
    "node(s) didn't have free ports for the requested pod ports",
    "Too many pods",
    "Insufficient cpu",
    "Insufficient memory",
    "Insufficient ephemeral-storage",
    "node(s) didn't match pod affinity rules",
    "node(s) didn't match pod anti-affinity rules",
    "node(s) didn't satisfy existing pods anti-affinity rules",
};
static_assert(std::size(kReasonTexts) == static_cast<std::size_t>(Reason::kCount));

// "3 Insufficient cpu, 5 Too many pods": sorted as strings, so that 10 comes before 2.
class Histogram {
 public:
  void Add(int count, std::string_view reason) {
    if (count > 0) items_.push_back(std::to_string(count) + " " + std::string(reason));
  }
  std::string Text() {
    std::sort(items_.begin(), items_.end());
    std::string out;
    for (const std::string& item : items_) out.append(out.empty() ? "" : ", ").append(item);
    return out;
  }

 private:
  std::vector<std::string> items_;
};

std::string Available(int nodes) { return "0/" + std::to_string(nodes) + " nodes are available: "; }

}  // namespace

// mirrors FitError.Error() and DefaultPreemption.PostFilter() of pkg/scheduler/framework, 1.36.
// DIVERGES: preemption is not supported, so no node ever has victims.
std::string Diagnosis::Message(int nodes, bool may_preempt) const {
  Histogram reasons;
  for (std::size_t i = 0; i < reasons_.size(); ++i) reasons.Add(reasons_[i], kReasonTexts[i]);
  for (const auto& [resource, count] : scalars_) reasons.Add(count, "Insufficient " + resource);
  reasons.Add(unseen_, "node(s) didn't satisfy plugin(s) [NodeAffinity]");
  const std::string why = conflict_ ? "pod affinity terms conflict" : reasons.Text();

  std::string preemption = "not eligible due to preemptionPolicy=Never.";
  if (may_preempt) {
    Histogram outlook;
    outlook.Add(not_hopeless_, "No preemption victims found for incoming pod");
    outlook.Add(nodes - not_hopeless_, "Preemption is not helpful for scheduling");
    preemption = Available(nodes) + outlook.Text() + ".";
  }
  return Available(nodes) + why + ". preemption: " + preemption;
}

}  // namespace terrarium::kubelet_fake::scheduling
