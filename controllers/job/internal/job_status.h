#pragma once

// A Job's status as numbers, and its conditions. Pure.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/clock.h"
#include "api/json.h"

namespace terrarium::controllers::job {

inline constexpr std::string_view kSuspended = "Suspended";
inline constexpr std::string_view kSuccessCriteriaMet = "SuccessCriteriaMet";
inline constexpr std::string_view kComplete = "Complete";
inline constexpr std::string_view kFailureTarget = "FailureTarget";
inline constexpr std::string_view kFailed = "Failed";

struct Condition {
  std::string type;
  std::string reason;
  std::string message;
  friend bool operator==(const Condition&, const Condition&) = default;
};

struct JobStatus {
  int active = 0;
  std::optional<int> ready;
  std::optional<int> terminating;  // nullopt: not told
  int succeeded = 0;
  int failed = 0;
  std::string completed_indexes;
  std::optional<std::string> failed_indexes;
  // Pods whose end is written down here until their finalizer has come off; then they are in the counters.
  std::vector<std::string> uncounted_succeeded;
  std::vector<std::string> uncounted_failed;
  std::optional<api::Time> start_time;  // whole seconds, as they are written
  std::optional<api::Time> completion_time;
  api::Json conditions = api::Json::array();

  int Uncounted() const { return static_cast<int>(uncounted_succeeded.size() + uncounted_failed.size()); }
};

JobStatus ReadJobStatus(const api::Json& document);
// `status` with all that JobStatus speaks of set, written as Kubernetes does: zeros and empty lists are left out.
api::Json WithStatus(api::Json status, const JobStatus& wanted);

// The condition of that type when it is True.
std::optional<Condition> TrueCondition(const JobStatus& status, std::string_view type);
bool IsFinished(const JobStatus& status);
// The same from a Job's document, without reading all of it.
bool IsFinished(const api::Json& document);

void AppendTrue(JobStatus& status, const Condition& condition, api::Time now);
// Sets a condition; one that is not there is not added to be False. True when that changed anything.
bool EnsureCondition(JobStatus& status, const Condition& condition, bool value, api::Time now);

// Times in statuses have no fractions.
api::Time WholeSeconds(api::Time time);

}  // namespace terrarium::controllers::job
