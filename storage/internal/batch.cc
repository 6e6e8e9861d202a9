#include "storage/internal/batch.h"

#include <utility>

#include "api/base/check.h"

namespace terrarium::storage {

ObjectPtr Batch::Current(const ObjectKey& key) {
  for (; indexed_ < changes_.size(); ++indexed_) {
    const Change& change = changes_[indexed_];
    const api::ObjectHeader& header = change.event.object->header();
    Key of_change{change.resource, header.ns, header.name};
    // The key's text lives in the older change; both live as long as the batch.
    index_[of_change] = &change;
  }
  if (!index_.empty()) {
    auto it = index_.find(Key{key.resource, key.ns, key.name});
    if (it != index_.end()) {
      const Event& event = it->second->event;
      return event.type == EventType::kDeleted ? nullptr : event.object;
    }
  }
  return state_.Find(key.resource, key.ns, key.name);
}

WriteOutcome Batch::Add(Write write) {
  using Code = WriteOutcome::Code;
  if (write.object != nullptr) {
    CHECK(write.object->header().ns == write.key.ns);
    CHECK(write.object->header().name == write.key.name);
  }
  ObjectPtr current = Current(write.key);
  if (write.op == Write::Op::kCreate) {
    if (current != nullptr) return {Code::kExists, std::move(current), {}};
  } else {
    if (current == nullptr) return {Code::kNotFound, nullptr, {}};
    if (current->revision() != write.expected_revision) return {Code::kConflict, std::move(current), {}};
  }

  EventType type = EventType::kDeleted;
  if (write.op == Write::Op::kCreate) type = EventType::kAdded;
  if (write.op == Write::Op::kUpdate) type = EventType::kModified;
  if (write.object == nullptr) {
    CHECK(write.op == Write::Op::kDelete);
    write.object = current;
  }
  ObjectPtr stamped = api::Object::AtRevision(std::move(write.object), ++revision_);
  changes_.push_back({std::move(write.key.resource), Event{type, stamped, std::move(current)}});
  return {Code::kOk, std::move(stamped), {}};
}

}  // namespace terrarium::storage
