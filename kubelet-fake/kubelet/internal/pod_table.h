#pragma once

// The pods that have a node, found by name, by node and by the time at which something is due.

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
  api::ObjectPtr object;  // the newest state we know of
  std::optional<PodLife> life;
  std::shared_ptr<const api::PodScript> own_script;  // of its annotations; null: none

  bool unread = true;   // others have changed the document since we looked at it
  bool doubt = false;   // the status may not be what we reported
  bool in_flight = false;
  bool removal_sent = false;
  bool has_address = false;
  std::optional<Time> due;  // its place in the schedule
  std::optional<Time> retry_at;
  int failures = 0;

  // Revisions of our own writes, of which the informer will tell us once more.
  std::array<std::int64_t, 4> own_revisions = {};
  std::size_t own_writes = 0;
  // Events that came while a write was under way: at most one of them is its echo.
  int events_in_flight = 0;
  std::int64_t event_revision = 0;

  bool IsOwn(std::int64_t revision) const;
  // Takes in what the informer says. False: it was nothing new.
  bool Hear(const api::ObjectPtr& told);
  // Takes in the answer to a write.
  void Wrote(const api::ObjectPtr& answer);
};

class PodTable {
 public:
  Pod& Add(const api::ObjectPtr& object, const std::string& node);
  void Erase(Pod& pod);
  Pod* Find(const api::ObjectName& name) const;
  Pod* Find(std::uint64_t id) const;
  // Snapshots, since whoever goes through them may change the table.
  std::vector<std::uint64_t> OfNode(const std::string& node) const;
  std::vector<std::uint64_t> All() const;            // in the order of arrival
  std::vector<const Pod*> AllByName() const;

  // One place in the schedule for each pod.
  void Schedule(Pod& pod, std::optional<Time> due);
  std::optional<Time> FirstDue() const;
  // The first of those that are due by then, taken off the schedule.
  Pod* TakeDue(Time now);

 private:
  std::map<std::uint64_t, std::unique_ptr<Pod>> pods_;
  std::map<api::ObjectName, Pod*> by_name_;
  std::map<std::string, std::map<std::uint64_t, Pod*>> by_node_;
  std::map<std::pair<Time, std::uint64_t>, Pod*> schedule_;
  std::uint64_t last_id_ = 0;
};

}  // namespace terrarium::kubelet_fake
