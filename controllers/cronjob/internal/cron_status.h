#pragma once

// The status of a CronJob while a sync changes it.

#include <optional>
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
  std::vector<ActiveJob> active() const;
  bool IsActive(std::string_view uid) const;
  bool IsActive(const api::ObjectName& job) const;
  void AddActive(const api::Object& job);
  void RemoveActive(std::string_view uid);

  std::optional<api::Time> last_schedule_time() const;
  void set_last_schedule_time(api::Time time);
  // Keeps the latest completion.
  void JobSucceeded(api::Time completed);

  const api::Json& json() const { return json_; }

 private:
  api::Json json_ = api::Json::object();
};

}  // namespace terrarium::controllers::cronjob
