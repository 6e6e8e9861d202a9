#pragma once

// The pods that have a node, indexed by name, by node and by the time at which their next step is due.

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/base/clock.h"
#include "api/object.h"
#include "api/object_name.h"
#include "kubelet-fake/kubelet/pod_life.h"

namespace terrarium::kubelet_fake {

struct Pod {
  std::uint64_t id = 0;  // in the order of arrival
  api::ObjectName name;
  std::string node;
  api::ObjectPtr object;  // the newest state that the kubelet knows
  std::optional<PodLife> life;
  std::shared_ptr<const api::PodScript> own_script;  // from its annotations; null: none

  bool unread = true;  // the object may have changed since the kubelet last read it
  bool doubt = false;  // the stored status may differ from the reported one
  bool in_flight = false;
  bool removal_sent = false;
  bool has_address = false;
  std::optional<Time> due;  // its entry in the schedule
  std::optional<Time> retry_at;
  int failures = 0;

  // Revisions of the kubelet's own writes. The informer will deliver these as well.
  std::array<std::int64_t, 4> own_revisions = {};
  std::size_t own_writes = 0;
  // Informer events that arrived during a pending write. At most one of them is the echo of that write.
  int events_in_flight = 0;
  std::int64_t event_revision = 0;

  bool IsOwn(std::int64_t revision) const;
  // Takes in an object from the informer. False: the caller has nothing to do now.
  bool Observe(const api::ObjectPtr& observed);
  // Takes in the response to a write.
  void Wrote(const api::ObjectPtr& answer);
};

class PodTable {
 public:
  Pod& Add(const api::ObjectPtr& object, const std::string& node);
  void Erase(Pod& pod);
  Pod* Find(const api::ObjectName& name) const;
  Pod* Find(std::uint64_t id) const;
  // Snapshots, since the caller may change the table while iterating.
  std::vector<std::uint64_t> OfNode(const std::string& node) const;
  std::vector<std::uint64_t> All() const;  // in the order of arrival
  std::vector<const Pod*> AllByName() const;

  // Each pod has at most one entry in the schedule.
  void Schedule(Pod& pod, std::optional<Time> due);
  std::optional<Time> FirstDue() const;
  // Removes the earliest entry that is due at `now` from the schedule and returns its pod; nullptr when none
  // is due.
  Pod* TakeDue(Time now);

 private:
  std::map<std::uint64_t, std::unique_ptr<Pod>> pods_;
  std::map<api::ObjectName, Pod*> by_name_;
  std::map<std::string, std::map<std::uint64_t, Pod*>> by_node_;
  std::map<std::pair<Time, std::uint64_t>, Pod*> schedule_;
  std::uint64_t last_id_ = 0;
};

}  // namespace terrarium::kubelet_fake
