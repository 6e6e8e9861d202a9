#include "tests/sim/history.h"

#include <map>
#include <memory>
#include <set>
#include <utility>

#include "apiserver/resource_table.h"

namespace terrarium::testbed {

std::vector<std::string> HistoryOf(TestbedOptions options, const std::function<void(Testbed&)>& drive) {
  Testbed bed(std::move(options));
  std::set<std::string> resources;
  for (const apiserver::ResourceInfo& resource : apiserver::ResourceTable::BuiltIn()->all())
    if (!resource.storage.empty()) resources.emplace(resource.storage);
  std::vector<std::unique_ptr<storage::Watch>> watches;
  for (const std::string& resource : resources) {
    storage::WatchQuery query;
    query.resource = resource;
    query.from_revision = 1;
    query.buffer_events = 1'000'000;
    watches.push_back(std::move(*bed.control_plane().store().StartWatch(query)));
  }
  drive(bed);
  std::map<std::int64_t, std::string> written;
  for (auto& watch : watches) {
    std::vector<storage::Event> events;
    while (watch->Take(1000, events) == storage::Watch::State::kOpen && events.size() % 1000 == 0 &&
           !events.empty()) {
    }
    for (const storage::Event& event : events)
      written[event.revision()] = std::to_string(static_cast<int>(event.type)) + " " + event.object->body();
  }
  std::vector<std::string> out;
  for (auto& [revision, text] : written) out.push_back(std::to_string(revision) + " " + text);
  return out;
}

}  // namespace terrarium::testbed
