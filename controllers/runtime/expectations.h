#pragma once

#include <map>
#include <set>
#include <string>

#include "api/base/clock.h"
#include "api/base/env.h"
#include "api/object_name.h"

namespace terrarium::controllers {

using api::ObjectName;

// What a controller has asked for and not yet seen in its informer. Until then its view is older than its own
// last action, and acting on it again would do everything twice. Single-threaded.
class Expectations {
 public:
  // A controller that never hears of what it expects acts anyway after this long.
  static constexpr api::Duration kExpiry = std::chrono::minutes(5);

  explicit Expectations(const api::Env& env) : env_(env) {}

  // Replace what was expected for `key`.
  void ExpectCreations(const ObjectName& key, int creations);
  // Deletions are expected by uid: an object seen going twice (marked, then gone) counts once.
  void ExpectDeletions(const ObjectName& key, std::set<std::string> uids);

  void CreationObserved(const ObjectName& key);
  // True when it was expected.
  bool DeletionObserved(const ObjectName& key, const std::string& uid);

  // True when nothing is expected, or it has been too long.
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
