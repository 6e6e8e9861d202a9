#include "controllers/runtime/why.h"

#include <utility>

namespace terrarium::controllers {
namespace {

void PutName(const std::string& resource, const api::ObjectName& object, api::Json& out) {
  out["resource"] = resource;
  if (!object.ns.empty()) out["namespace"] = object.ns;
  out["name"] = object.name;
}

}  // namespace

api::Json ToJson(const WhyRecord& record) {
  api::Json out = {{"time", api::FormatMicroTime(record.time)},
                   {"revision", record.revision},
                   {"controller", record.controller},
                   {"action", record.action},
                   {"rule", record.rule}};
  PutName(record.resource, record.object, out);
  if (!record.owner_resource.empty()) PutName(record.owner_resource, record.owner, out["owner"]);
  if (record.saw != nullptr) out["saw"] = *record.saw;
  return out;
}

void WhyLog::Record(WhyRecord record) {
  std::lock_guard lock(mutex_);
  if (records_.size() == kRecordsMax) records_.pop_front();
  records_.push_back(std::move(record));
}

std::vector<WhyRecord> WhyLog::Find(const std::string& resource, const api::ObjectName& object) const {
  std::lock_guard lock(mutex_);
  std::vector<WhyRecord> found;
  for (const WhyRecord& record : records_) {
    bool wanted = resource.empty() || (record.resource == resource && record.object == object) ||
                  (record.owner_resource == resource && record.owner == object);
    if (wanted) found.push_back(record);
  }
  return found;
}

}  // namespace terrarium::controllers
