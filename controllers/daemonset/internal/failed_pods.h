#pragma once

// How soon the controller deletes a failed pod again on the same node. A kubelet that rejects every pod would
// otherwise make it create and delete pods without a pause. Pure.

#include <map>
#include <optional>
#include <string>

#include "api/base/clock.h"

namespace terrarium::controllers::daemonset {

class FailedPods {
 public:
  static constexpr api::Duration kBase = std::chrono::seconds(1);
  static constexpr api::Duration kMost = std::chrono::minutes(15);

  // nullopt: delete it now; the next one on this node waits for twice as long. Otherwise the delay to try
  // again after. Another generation of the DaemonSet starts from the base delay.
  std::optional<api::Duration> Delay(const std::string& owner_uid, std::int64_t generation,
                                     const std::string& node, api::Time now);
  void Forget(const std::string& owner_uid);

 private:
  struct Backoff {
    std::int64_t generation = 0;
    api::Duration delay{};
    api::Time since{};
  };
  std::map<std::string, std::map<std::string, Backoff>> owners_;  // by uid and node
};

}  // namespace terrarium::controllers::daemonset
