#pragma once

#include <memory>

#include "storage/state.h"
#include "storage/store.h"
#include "storage/watch_hub.h"

namespace terrarium::storage {

// The reading half that all stores share. How writes become durable is the derived class's business.
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

// What a write gets that came too late.
WriteOutcome ShutDownOutcome();

}  // namespace terrarium::storage
