#include "testbed/control_plane/object_watch.h"

#include <utility>

#include "api/base/errors.h"
#include "apiserver/resource_registry.h"
#include "testbed/control_plane/control_plane.h"

namespace terrarium::testbed {

api::Result<storage::ObjectKey> KeyOfNamed(ControlPlane& control_plane, storage::ObjectKey named) {
  const auto table = control_plane.handler().registry().Table();
  const apiserver::ResourceInfo* resource = table->FindStorage(named.resource);
  if (resource == nullptr) return api::UnknownResource();
  if (resource->namespaced && named.ns.empty()) named.ns = "default";
  if (!resource->namespaced && !named.ns.empty())
    return api::BadRequest(named.resource + " have no namespace");
  return named;
}

api::Result<std::unique_ptr<ObjectWatch>> ObjectWatch::Make(ControlPlane& control_plane,
                                                            storage::ObjectKey key,
                                                            ObjectCondition condition) {
  auto named = KeyOfNamed(control_plane, std::move(key));
  if (!named) return named.status();
  return std::unique_ptr<ObjectWatch>(
      new ObjectWatch(control_plane.store(), std::move(*named), std::move(condition)));
}

ObjectWatch::ObjectWatch(storage::Store& store, storage::ObjectKey key, ObjectCondition condition)
    : store_(store), key_(std::move(key)), condition_(std::move(condition)) {
  Restart();
}

void ObjectWatch::Restart() {
  storage::WatchQuery query;
  query.resource = key_.resource;
  if (!key_.ns.empty()) query.ns = key_.ns;
  query.name = key_.name;
  storage::ListAndWatchResult start = store_.ListAndWatch(query);
  watch_ = std::move(start.watch);
  api::ObjectPtr found;
  for (const api::ObjectPtr& object : start.listing.items)
    if (object->header().name == key_.name) found = object;
  Evaluate(found, found == nullptr ? start.listing.revision : found->revision());
}

void ObjectWatch::Evaluate(const api::ObjectPtr& object, std::int64_t revision) {
  if (held_) return;
  std::shared_ptr<const api::Json> document = object == nullptr ? nullptr : object->Document();
  held_ = condition_.Holds(document.get());
  revision_ = revision;
}

bool ObjectWatch::Held() {
  while (!held_) {
    taken_.clear();
    storage::Watch::State state = watch_->Take(256, taken_);
    for (const storage::Event& event : taken_)
      Evaluate(event.type == storage::EventType::kDeleted ? nullptr : event.object, event.revision());
    if (state == storage::Watch::State::kOverflow)
      Restart();
    else if (taken_.empty())
      break;
  }
  return held_;
}

}  // namespace terrarium::testbed
