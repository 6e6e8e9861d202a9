#include "controllers/runtime/why.h"

#include <utility>

namespace terrarium::controllers {

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
