#pragma once

// The expected state of a Job whose gate is switched, derived from the sentences of KEP-3939 alone.

#include <optional>
#include <string>

#include "tests/matrix/cell.h"
#include "tests/matrix/expectation.h"

namespace terrarium::matrix {

enum class JobAction { kDeletion, kEviction, kScaleUp, kScaleDown };
inline constexpr JobAction kJobActions[] = {JobAction::kDeletion, JobAction::kEviction, JobAction::kScaleUp,
                                            JobAction::kScaleDown};
const char* NameOf(JobAction action);

// Of the Jobs in all cells.
inline constexpr int kParallelism = 3;
inline constexpr int kParallelismDown = 1;

struct JobSight {
  std::optional<std::string> policy;  // spec.podReplacementPolicy as it is stored
  int active = 0;                     // pods that are not terminating
  int terminating = 0;                // pods that are terminating
  int failed = 0;                     // status.failed
  std::optional<int> reported;        // status.terminating
  bool index_twice = false;           // some index has a terminating pod and another one
};

class JobModel {
 public:
  JobModel(JobAction action, std::optional<std::string> policy, bool indexed)
      : action_(action), wanted_policy_(std::move(policy)), indexed_(indexed) {}

  void Switch(const Phase& gates);
  void Apply();
  // The action takes place. Pods that it deletes do not end.
  void Begin();
  // The deleted pods fail, with all consequences.
  void End();

  void Check(const JobSight& sight, Moment& moment) const;

 private:
  // The policy takes effect if it is stored and the controller-manager's gate is on.
  bool Waits() const { return policy_ == "Failed" && gates_.controller_manager; }
  bool CountsAsFailed() const { return action_ == JobAction::kDeletion || action_ == JobAction::kEviction; }
  void Replace();
  int Deleted() const { return CountsAsFailed() ? 1 : kParallelism - kParallelismDown; }
  const Sentence& WhyPods() const;

  const JobAction action_;
  const std::optional<std::string> wanted_policy_;
  const bool indexed_;
  Phase gates_;
  std::optional<std::string> policy_;
  bool in_flight_ = false;
  bool replaced_ = false;
  int failed_ = 0;
};

}  // namespace terrarium::matrix
