#pragma once

// The status of a CronJob while a sync changes it.

#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/clock.h"
#include "api/json.h"
#include "api/object.h"
#include "api/object_name.h"

namespace terrarium::controllers::cronjob {

class CronStatus {
 public:
  CronStatus() = default;
  // `document` is the CronJob.
  explicit CronStatus(const api::Json& document);

  struct ActiveJob {
    api::ObjectName name;
    std::string uid;
  };
  // Any client may write a status, so the list may be as long as an object. What a sync does for each of its
  // Jobs costs a logarithm.
  std::vector<ActiveJob> active() const;
  std::size_t active_count() const { return uids_.size(); }
  bool IsActive(std::string_view uid) const { return uids_.contains(uid); }
  bool IsActive(const api::ObjectName& job) const;
  void AddActive(const api::Object& job);
  void RemoveActive(std::string_view uid);

  std::optional<api::Time> last_schedule_time() const;
  void set_last_schedule_time(api::Time time);
  // Keeps the latest completion.
  void JobSucceeded(api::Time completed);

  const api::Json& json();

 private:
  // Drops the removed Jobs from the list, in one pass.
  void Prune();

  api::Json json_ = api::Json::object();
  std::set<std::string, std::less<>> uids_;  // of the active Jobs
  bool removed_ = false;                     // the list in json_ has Jobs that are not in uids_
};

}  // namespace terrarium::controllers::cronjob
