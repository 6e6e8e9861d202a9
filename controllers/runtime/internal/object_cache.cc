#include "controllers/runtime/internal/object_cache.h"

#include <algorithm>
#include <utility>

#include "api/base/check.h"

namespace terrarium::controllers {

bool ObjectCache::NodeOrder::operator()(const Node* a, const Node* b) const { return a->first < b->first; }

ObjectPtr ObjectCache::Put(ObjectPtr object) {
  auto place = objects_.try_emplace(object->name()).first;
  return PutInto(place, std::move(object));
}

ObjectPtr ObjectCache::PutInto(Objects::iterator place, ObjectPtr object) {
  Held& held = place->second;
  ObjectPtr before = std::exchange(held.object, std::move(object));
  held.places.resize(indexes_.size());
  for (std::size_t i = 0; i < indexes_.size(); ++i) Place(*place, i);
  return before;
}

ObjectPtr ObjectCache::Remove(const ObjectName& name) {
  auto place = objects_.find(name);
  return place == objects_.end() ? nullptr : Erase(place);
}

ObjectPtr ObjectCache::Erase(Objects::iterator place) {
  for (std::size_t i = 0; i < indexes_.size(); ++i) Displace(*place, i);
  ObjectPtr before = std::move(place->second.object);
  objects_.erase(place);
  return before;
}

std::vector<ObjectCache::Change> ObjectCache::Replace(const std::vector<ObjectPtr>& items) {
  std::vector<Change> changes;
  ++replaced_;
  for (const ObjectPtr& item : items) {
    auto place = objects_.try_emplace(item->name()).first;
    place->second.seen = replaced_;
    const ObjectPtr& held = place->second.object;
    if (held != nullptr && held->revision() == item->revision() && held->header().uid == item->header().uid)
      continue;
    ObjectPtr before = PutInto(place, item);
    changes.push_back({std::move(before), item});
  }
  for (auto place = objects_.begin(); place != objects_.end();) {
    auto next = std::next(place);
    if (place->second.seen != replaced_) changes.push_back({Erase(place), nullptr});
    place = next;
  }
  return changes;
}

void ObjectCache::AddIndex(const std::string& name, IndexFunction values) {
  if (!index_names_.try_emplace(name, indexes_.size()).second) return;
  indexes_.push_back({std::move(values), {}});
  for (Node& node : objects_) {
    node.second.places.resize(indexes_.size());
    Place(node, indexes_.size() - 1);
  }
}

void ObjectCache::Place(Node& node, std::size_t index) {
  std::vector<std::string> values = indexes_[index].values(*node.second.object);
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  auto& places = node.second.places[index];
  auto is_at = [](const Buckets::iterator& place, const std::string& value) { return place->first == value; };
  if (std::equal(places.begin(), places.end(), values.begin(), values.end(), is_at)) return;
  Displace(node, index);
  places.clear();
  for (std::string& value : values) {
    auto bucket = indexes_[index].buckets.try_emplace(std::move(value)).first;
    bucket->second.insert(&node);
    places.push_back(bucket);
  }
}

void ObjectCache::Displace(const Node& node, std::size_t index) {
  for (const Buckets::iterator& bucket : node.second.places[index]) {
    bucket->second.erase(&node);
    if (bucket->second.empty()) indexes_[index].buckets.erase(bucket);
  }
}

ObjectPtr ObjectCache::Get(const ObjectName& name) const {
  auto place = objects_.find(name);
  return place == objects_.end() ? nullptr : place->second.object;
}

std::vector<ObjectPtr> ObjectCache::List(const std::optional<std::string>& ns) const {
  std::vector<ObjectPtr> found;
  if (!ns) found.reserve(objects_.size());
  for (auto place = ns ? objects_.lower_bound(ObjectName{*ns, ""}) : objects_.begin();
       place != objects_.end() && (!ns || place->first.ns == *ns); ++place)
    found.push_back(place->second.object);
  return found;
}

std::vector<ObjectPtr> ObjectCache::ByIndex(const std::string& index, const std::string& value) const {
  auto number = index_names_.find(index);
  CHECK(number != index_names_.end());
  std::vector<ObjectPtr> found;
  const Buckets& buckets = indexes_[number->second].buckets;
  auto bucket = buckets.find(value);
  if (bucket == buckets.end()) return found;
  found.reserve(bucket->second.size());
  for (const Node* node : bucket->second) found.push_back(node->second.object);
  return found;
}

}  // namespace terrarium::controllers
