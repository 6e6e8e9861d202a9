#pragma once

// The Jobs of a CronJob, and which of the finished ones are too many.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/base/clock.h"
#include "api/object.h"
#include "controllers/cronjob/internal/cron_spec.h"

namespace terrarium::controllers::cronjob {

struct ChildJob {
  enum class End { kNone, kComplete, kFailed };

  api::ObjectName name;
  std::string uid;
  End end = End::kNone;
  std::optional<api::Time> start_time;
  std::optional<api::Time> completion_time;

  bool Finished() const { return end != End::kNone; }
};

ChildJob ReadChildJob(const api::Object& job);

// A finished Job that exceeds a history limit.
struct Surplus {
  const ChildJob* job;  // points into the argument of SurplusJobs
  std::int64_t limit;   // of its kind
};
// The successful ones first, each kind from the oldest start on. A Job that never started counts as newest.
std::vector<Surplus> SurplusJobs(const std::vector<ChildJob>& jobs, const CronSpec& spec);

}  // namespace terrarium::controllers::cronjob
