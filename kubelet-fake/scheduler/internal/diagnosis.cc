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
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by "
    "another "
    "pod",
    "node(s) didn't match PersistentVolume's node affinity",
    "node(s) didn't find available persistent volumes to bind",
    "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)",
    "node(s) had no available volume zone",
    "node(s) didn't match pod topology spread constraints",
    "node(s) didn't match pod topology spread constraints (missing required label)",
    "node(s) didn't match pod affinity rules",
    "node(s) didn't match pod anti-affinity rules",
    "node(s) didn't satisfy existing pods anti-affinity rules",
    "No preemption victims found for incoming pod",
    "Preemption is not helpful for scheduling",
    "node(s) didn't satisfy plugin(s) [NodeAffinity]",
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

}  // namespace

// mirrors FitError.Error() of pkg/scheduler/framework, 1.36.
std::string Diagnosis::Message(int nodes) const {
  Histogram reasons;
  for (std::size_t i = 0; i < reasons_.size(); ++i) reasons.Add(reasons_[i], kReasonTexts[i]);
  for (const auto& [resource, count] : scalars_) reasons.Add(count, "Insufficient " + resource);
  return "0/" + std::to_string(nodes) +
         " nodes are available: " + (everywhere_.empty() ? reasons.Text() : everywhere_) + ".";
}

}  // namespace terrarium::kubelet_fake::scheduling
