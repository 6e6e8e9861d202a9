#pragma once

#include <memory>

#include "storage/internal/state.h"
#include "storage/internal/watch_hub.h"
#include "storage/store.h"

namespace terrarium::storage {

// Reads and watches, which all stores share. Derived classes implement writes and their durability.
class StoreBase : public Store {
 public:
  explicit StoreBase(std::unique_ptr<State> state);

  ObjectPtr Get(const ObjectKey& key) const final;
  api::Result<Listing> List(const ListQuery& query) const final;
  std::size_t Count(std::string_view resource) const final;
  api::Result<std::unique_ptr<Watch>> StartWatch(const WatchQuery& query) final;
  ListAndWatchResult ListAndWatch(const WatchQuery& query) final;
  std::int64_t CurrentRevision() const final { return state_->revision(); }
  std::int64_t CompactedRevision() const final { return state_->compacted(); }

 protected:
  const std::unique_ptr<State> state_;
  WatchHub hub_;
};

// The outcome of a write after Shutdown.
WriteOutcome ShutDownOutcome();

}  // namespace terrarium::storage
