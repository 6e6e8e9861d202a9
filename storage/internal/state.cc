#include "storage/internal/state.h"

#include <algorithm>
#include <utility>

#include "api/base/check.h"

namespace terrarium::storage {
namespace {

std::size_t ApproximateBytes(const api::Object& object) {
  const api::ObjectHeader& header = object.header();
  std::size_t bytes = sizeof(api::Object) + object.body().size() + header.ns.size() + header.name.size() +
                      header.uid.size() + header.node_name.size() +
                      header.fields.size() * sizeof(std::string);
  for (const auto& [key, value] : header.labels)
    bytes += sizeof(header.labels[0]) + key.size() + value.size();
  return bytes;
}

}  // namespace

// The object of an added or modified event is still current, or it is counted as the `previous` of the event
// that replaced it. Only the event itself keeps the last state of a deleted object.
std::size_t BytesKeptAlive(const Event& event) {
  std::size_t bytes = sizeof(Event);
  if (event.previous != nullptr) bytes += ApproximateBytes(*event.previous);
  if (event.type == EventType::kDeleted) bytes += ApproximateBytes(*event.object);
  return bytes;
}

State::State(const HistoryLimits& limits, std::int64_t revision, std::int64_t compacted)
    : limits_(limits), revision_(revision), compacted_(compacted), floor_(compacted) {
  CHECK(compacted <= revision);
}

const State::Resource* State::FindResource(std::string_view resource) const {
  auto it = resources_.find(resource);
  return it == resources_.end() ? nullptr : &it->second;
}

State::Resource& State::ResourceFor(std::string_view resource) {
  auto it = resources_.find(resource);
  if (it == resources_.end()) it = resources_.try_emplace(std::string(resource)).first;
  return it->second;
}

void State::Put(Resource& resource, const ObjectPtr& object) {
  const api::ObjectHeader& header = object->header();
  auto space = resource.namespaces.find(header.ns);
  if (space == resource.namespaces.end()) space = resource.namespaces.try_emplace(header.ns).first;
  if (space->second.Put(object)) ++resource.count;
}

void State::Remove(Resource& resource, const api::ObjectHeader& header) {
  auto space = resource.namespaces.find(header.ns);
  CHECK(space != resource.namespaces.end());
  CHECK(space->second.Remove(header.name));
  --resource.count;
  if (space->second.empty()) resource.namespaces.erase(space);
}

void State::Apply(const std::deque<Change>& changes) {
  std::vector<Event> garbage;
  std::unique_lock gate(gate_);
  std::unique_lock lock(mutex_);
  for (const Change& change : changes) {
    const Event& event = change.event;
    CHECK(event.revision() == revision() + 1);
    Resource& resource = ResourceFor(change.resource);
    if (event.type == EventType::kDeleted) {
      Remove(resource, event.object->header());
    } else {
      Put(resource, event.object);
    }
    resource.history.push_back(event);
    const std::size_t bytes = BytesKeptAlive(event);
    resource.history_bytes += bytes;
    history_bytes_ += bytes;
    ++history_events_;
    revision_.store(event.revision(), std::memory_order_release);
    Trim(garbage);
  }
}

void State::Trim(std::vector<Event>& garbage) {
  while (history_events_ > limits_.events_min) {
    const bool too_many = history_events_ > limits_.events_max;
    if (!too_many && history_bytes_ <= limits_.bytes_max) return;
    ForgetOldest(LargestHistory(!too_many), garbage);
  }
}

State::Resource& State::LargestHistory(bool by_bytes) {
  // So many events later the largest history is at most this much smaller than the others.
  const std::size_t drops = std::max<std::size_t>(limits_.events_max / 64, 1);
  if (largest_.drops == 0 || largest_.by_bytes != by_bytes || largest_.resource->history.empty()) {
    largest_ = {nullptr, by_bytes, drops};
    auto size = [by_bytes](const Resource& r) { return by_bytes ? r.history_bytes : r.history.size(); };
    for (auto& [name, resource] : resources_)
      if (largest_.resource == nullptr || size(resource) > size(*largest_.resource))
        largest_.resource = &resource;
  }
  CHECK(largest_.resource != nullptr);
  --largest_.drops;
  return *largest_.resource;
}

void State::Restore(std::string_view resource, ObjectPtr object) {
  std::unique_lock lock(mutex_);
  Put(ResourceFor(resource), object);
}

ObjectPtr State::Find(std::string_view resource, std::string_view ns, std::string_view name) const {
  const Resource* found = FindResource(resource);
  if (found == nullptr) return nullptr;
  auto space = found->namespaces.find(ns);
  if (space == found->namespaces.end()) return nullptr;
  const ObjectPtr* object = space->second.Find(name);
  return object == nullptr ? nullptr : *object;
}

ObjectPtr State::Get(const ObjectKey& key) const {
  ReadLock lock(*this);
  return Find(key.resource, key.ns, key.name);
}

std::size_t State::Count(std::string_view resource) const {
  ReadLock lock(*this);
  const Resource* found = FindResource(resource);
  return found == nullptr ? 0 : found->count;
}

void State::ForgetOldest(Resource& resource, std::vector<Event>& garbage) {
  Event& oldest = resource.history.front();
  const std::size_t bytes = BytesKeptAlive(oldest);
  resource.history_bytes -= bytes;
  history_bytes_ -= bytes;
  --history_events_;
  resource.compacted = oldest.revision();
  if (compacted() < resource.compacted) compacted_.store(resource.compacted, std::memory_order_release);
  garbage.push_back(std::move(oldest));
  resource.history.pop_front();
}

void State::Compact(std::int64_t revision) {
  std::vector<Event> garbage;
  std::unique_lock gate(gate_);
  std::unique_lock lock(mutex_);
  revision = std::min(revision, this->revision());
  for (auto& [name, resource] : resources_)
    while (!resource.history.empty() && resource.history.front().revision() <= revision)
      ForgetOldest(resource, garbage);
  if (floor() < revision) floor_.store(revision, std::memory_order_release);
  if (compacted() < revision) compacted_.store(revision, std::memory_order_release);
}

std::size_t State::HistoryEvents() const {
  ReadLock lock(*this);
  return history_events_;
}

std::size_t State::HistoryBytes() const {
  ReadLock lock(*this);
  return history_bytes_;
}

}  // namespace terrarium::storage
