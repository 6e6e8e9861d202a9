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
  std::optional<int> terminating;  // nullopt: not reported
  int succeeded = 0;
  int failed = 0;
  std::string completed_indexes;
  std::optional<std::string> failed_indexes;
  // Finished pods whose finalizer has not been removed yet; after its removal they move into the counters.
  std::vector<std::string> uncounted_succeeded;
  std::vector<std::string> uncounted_failed;
  std::optional<api::Time> start_time;  // whole seconds, as serialized
  std::optional<api::Time> completion_time;
  api::Json conditions = api::Json::array();

  int Uncounted() const { return static_cast<int>(uncounted_succeeded.size() + uncounted_failed.size()); }
};

JobStatus ReadJobStatus(const api::Json& document);
// Returns `status` with all fields of JobStatus set as Kubernetes writes them: zeros and empty lists are
// omitted.
api::Json WithStatus(api::Json status, const JobStatus& wanted);

// The condition of that type if its status is True.
std::optional<Condition> TrueCondition(const JobStatus& status, std::string_view type);
bool IsFinished(const JobStatus& status);
// The same, reading only the conditions of the document.
bool IsFinished(const api::Json& document);

void AppendTrue(JobStatus& status, const Condition& condition, api::Time now);
// Sets a condition. A missing condition is not added as False. Returns whether anything changed.
bool EnsureCondition(JobStatus& status, const Condition& condition, bool value, api::Time now);

// Times in a status have no fractions of a second.
api::Time WholeSeconds(api::Time time);

}  // namespace terrarium::controllers::job
