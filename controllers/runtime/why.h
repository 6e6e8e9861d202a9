#pragma once

// Why an object was created, deleted or scaled: what the controller saw and which rule applied, for users and
// for the reports of failed tests.

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
  std::string rule;                      // a short text for users
  std::shared_ptr<const api::Json> saw;  // counts, ranks, costs; one for all records of a decision
};

// The form in the control API; empty members are omitted.
api::Json ToJson(const WhyRecord& record);

// Keeps the newest records. Thread-safe.
class WhyLog {
 public:
  static constexpr std::size_t kRecordsMax = 10'000;

  void Record(WhyRecord record);
  // The records about the named object or on its behalf, oldest first; all records when `resource` is empty.
  std::vector<WhyRecord> Find(const std::string& resource = "", const api::ObjectName& object = {}) const;

 private:
  mutable std::mutex mutex_;
  std::deque<WhyRecord> records_;
};

}  // namespace terrarium::controllers
