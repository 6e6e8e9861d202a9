#include "controllers/runtime/expectations.h"

#include <utility>

namespace terrarium::controllers {

void Expectations::ExpectCreations(const ObjectName& key, int creations) { Expect(key, creations, {}); }

void Expectations::ExpectDeletions(const ObjectName& key, std::set<std::string> uids) {
  Expect(key, 0, std::move(uids));
}

void Expectations::Expect(const ObjectName& key, int creations, std::set<std::string> deleted_uids) {
  entries_[key] =
      Entry{.creations = creations, .deletions = std::move(deleted_uids), .since = env_.clock.Now()};
}

void Expectations::CreationObserved(const ObjectName& key) {
  // Others create objects that match as well: what was not expected counts for nothing.
  if (auto it = entries_.find(key); it != entries_.end() && it->second.creations > 0) --it->second.creations;
}

bool Expectations::DeletionObserved(const ObjectName& key, const std::string& uid) {
  auto it = entries_.find(key);
  return it != entries_.end() && it->second.deletions.erase(uid) > 0;
}

bool Expectations::Satisfied(const ObjectName& key) const {
  auto it = entries_.find(key);
  return CreationsSatisfied(key) &&
         (it == entries_.end() || it->second.deletions.empty() || Expired(it->second));
}

bool Expectations::CreationsSatisfied(const ObjectName& key) const {
  auto it = entries_.find(key);
  return it == entries_.end() || it->second.creations == 0 || Expired(it->second);
}

bool Expectations::Expired(const Entry& entry) const { return env_.clock.Now() - entry.since > kExpiry; }

void Expectations::Forget(const ObjectName& key) { entries_.erase(key); }

}  // namespace terrarium::controllers
