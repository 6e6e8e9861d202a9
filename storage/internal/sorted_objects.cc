#include "storage/internal/sorted_objects.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace terrarium::storage {
namespace {

// An insertion moves half of this many slots on average.
constexpr std::size_t kBlockMax = 128;

std::ptrdiff_t Offset(std::size_t n) { return static_cast<std::ptrdiff_t>(n); }

}  // namespace

SortedObjects::Position SortedObjects::LowerBound(std::string_view name) const {
  auto block = std::partition_point(blocks_.begin(), blocks_.end(),
                                    [&](const Block& b) { return b.back().name < name; });
  if (block == blocks_.end()) return {blocks_.size(), 0};
  auto slot =
      std::partition_point(block->begin(), block->end(), [&](const Slot& s) { return s.name < name; });
  return {static_cast<std::size_t>(block - blocks_.begin()), static_cast<std::size_t>(slot - block->begin())};
}

SortedObjects::Position SortedObjects::UpperBound(std::string_view name) const {
  Position position = LowerBound(name);
  return Holds(position, name) ? Next(position) : position;
}

SortedObjects::Position SortedObjects::Next(Position position) const {
  if (++position.index < blocks_[position.block].size()) return position;
  return {position.block + 1, 0};
}

const api::ObjectPtr* SortedObjects::Find(std::string_view name) const {
  Position position = LowerBound(name);
  return Holds(position, name) ? &Object(position) : nullptr;
}

bool SortedObjects::Put(const api::ObjectPtr& object) {
  std::string_view name = object->header().name;
  Position position = LowerBound(name);
  if (Holds(position, name)) {
    blocks_[position.block][position.index] = {name, object};
    return false;
  }
  ++size_;
  if (AtEnd(position)) {
    // Behind everything: fills the last block up and then starts a new one, so that names that come in order
    // leave full blocks behind.
    if (blocks_.empty() || blocks_.back().size() == kBlockMax) blocks_.emplace_back();
    blocks_.back().push_back({name, object});
    return true;
  }
  Block& block = blocks_[position.block];
  block.insert(block.begin() + Offset(position.index), Slot{name, object});
  if (block.size() > kBlockMax) {
    auto middle = block.begin() + Offset(block.size() / 2);
    Block upper(std::make_move_iterator(middle), std::make_move_iterator(block.end()));
    block.erase(middle, block.end());
    blocks_.insert(blocks_.begin() + Offset(position.block) + 1, std::move(upper));
  }
  return true;
}

bool SortedObjects::Remove(std::string_view name) {
  Position position = LowerBound(name);
  if (!Holds(position, name)) return false;
  Block& block = blocks_[position.block];
  block.erase(block.begin() + Offset(position.index));
  --size_;
  if (block.empty()) {
    blocks_.erase(blocks_.begin() + Offset(position.block));
  } else if (position.block + 1 < blocks_.size() &&
             block.size() + blocks_[position.block + 1].size() <= kBlockMax / 2) {
    // Small neighbours merge, or blocks of one object each would be left of many that were deleted.
    Block& next = blocks_[position.block + 1];
    block.insert(block.end(), std::make_move_iterator(next.begin()), std::make_move_iterator(next.end()));
    blocks_.erase(blocks_.begin() + Offset(position.block) + 1);
  }
  return true;
}

std::size_t SortedObjects::CountFrom(Position position) const {
  if (AtEnd(position)) return 0;
  std::size_t count = blocks_[position.block].size() - position.index;
  for (std::size_t b = position.block + 1; b < blocks_.size(); ++b) count += blocks_[b].size();
  return count;
}

}  // namespace terrarium::storage
