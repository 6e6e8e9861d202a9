#pragma once

// Why an object was created, deleted or scaled: what the controller saw and which of its rules fired. A test
// that fails and a user who wonders read it here instead of guessing from Events.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "api/base/clock.h"
#include "api/json.h"
#include "api/object_name.h"

namespace terrarium::controllers {

struct WhyRecord {
  api::Time time{};
  std::int64_t revision = 0;  // the newest that the controller had seen when it decided
  std::string controller;     // "replicaset-controller"
  std::string action;         // "create", "delete", "scale"
  std::string resource;       // what it was done to: "pods", ...
  api::ObjectName object;
  std::string owner_resource;  // on whose behalf: "replicasets", ...
  api::ObjectName owner;
  std::string rule;                      // in a few words, for people
  std::shared_ptr<const api::Json> saw;  // counts, ranks, costs; one for all records of a decision
};

// As people get to read it; without what it does not have.
api::Json ToJson(const WhyRecord& record);

// Keeps the newest records. Thread-safe.
class WhyLog {
 public:
  static constexpr std::size_t kRecordsMax = 10'000;

  void Record(WhyRecord record);
  // Oldest first, of those done to or on behalf of the named object; all of them when `resource` is empty.
  std::vector<WhyRecord> Find(const std::string& resource = "", const api::ObjectName& object = {}) const;

 private:
  mutable std::mutex mutex_;
  std::deque<WhyRecord> records_;
};

}  // namespace terrarium::controllers
