#pragma once

#include <map>
#include <set>
#include <string>

#include "api/base/clock.h"
#include "api/base/env.h"
#include "api/object_name.h"

namespace terrarium::controllers {

using api::ObjectName;

// The creations and deletions that a controller has requested and not yet observed in its informer. Until
// then its view is older than its last action, and acting on it could repeat the action. Single-threaded.
class Expectations {
 public:
  // A controller that has not observed its expectations acts anyway after this time.
  static constexpr api::Duration kExpiry = std::chrono::minutes(5);

  explicit Expectations(const api::Env& env) : env_(env) {}

  // Replaces the expectations of `key`.
  void ExpectCreations(const ObjectName& key, int creations);
  // Both, for a controller that creates and deletes in one step.
  void Expect(const ObjectName& key, int creations, std::set<std::string> deleted_uids);
  // Deletions are expected by uid: an object that is observed twice (terminating, then deleted) counts once.
  void ExpectDeletions(const ObjectName& key, std::set<std::string> uids);

  void CreationObserved(const ObjectName& key);
  // True when it was expected.
  bool DeletionObserved(const ObjectName& key, const std::string& uid);

  // True when nothing is expected, or the expectations have expired.
  bool Satisfied(const ObjectName& key) const;
  // The same of creations alone.
  bool CreationsSatisfied(const ObjectName& key) const;
  void Forget(const ObjectName& key);

 private:
  struct Entry {
    int creations = 0;
    std::set<std::string> deletions;
    api::Time since{};
  };
  bool Expired(const Entry& entry) const;

  api::Env env_;
  std::map<ObjectName, Entry> entries_;
};

}  // namespace terrarium::controllers
