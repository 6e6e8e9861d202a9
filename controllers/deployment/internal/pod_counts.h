#pragma once

// How many pods each ReplicaSet has, terminating ones apart, counted as they come and go: Recreate waits for the old
// ones to be gone and must not list them each time one of them is. Pure, single-threaded.

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "api/object.h"
#include "api/object_name.h"

namespace terrarium::controllers::deployment {

class PodCounts {
 public:
  // Of pods that have not ended.
  struct Counts {
    std::int64_t live = 0;  // without a deletionTimestamp
    std::int64_t terminating = 0;
  };
  struct Owner {
    std::string uid;
    api::ObjectName name;
  };

  // The ReplicaSet that has just lost its last pod, or its last live one, if any: somebody may be waiting for that.
  std::optional<Owner> Put(const api::Object& pod);
  std::optional<Owner> Remove(const api::ObjectName& pod);
  void Clear();

  Counts Of(const std::string& replica_set_uid) const;

 private:
  struct Pod {
    Owner owner;
    bool terminating = false;
  };
  static std::optional<Pod> Read(const api::Object& pod);

  std::map<api::ObjectName, Pod> pods_;
  std::map<std::string, Counts> counts_;  // by uid of the ReplicaSet
};

}  // namespace terrarium::controllers::deployment
