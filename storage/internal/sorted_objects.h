#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "api/object.h"

namespace terrarium::storage {

// Objects of one resource in one namespace, sorted by name. They are stored in small sorted blocks: iteration
// reads memory in order and counting skips whole blocks, whereas a tree would visit a node for each object.
// Invariants: no block is empty; the last name of a block is less than the first of the next.
class SortedObjects {
 public:
  // Stays valid until the next Put or Remove.
  struct Position {
    std::size_t block;
    std::size_t index;
  };

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  // nullptr when absent.
  const api::ObjectPtr* Find(std::string_view name) const;
  // Adds the object, or replaces the one of its name. True when it was added.
  bool Put(const api::ObjectPtr& object);
  // False when no object has that name.
  bool Remove(std::string_view name);

  Position begin() const { return {0, 0}; }
  // The first object whose name is greater.
  Position UpperBound(std::string_view name) const;
  bool AtEnd(Position position) const { return position.block == blocks_.size(); }
  Position Next(Position position) const;
  // REQUIRES: !AtEnd(position)
  std::string_view Name(Position position) const { return blocks_[position.block][position.index].name; }
  const api::ObjectPtr& Object(Position position) const {
    return blocks_[position.block][position.index].object;
  }
  // Number of objects from `position` on.
  std::size_t CountFrom(Position position) const;

 private:
  struct Slot {
    std::string_view name;  // inside the object
    api::ObjectPtr object;
  };
  using Block = std::vector<Slot>;

  // The first slot whose name is not less.
  Position LowerBound(std::string_view name) const;
  bool Holds(Position position, std::string_view name) const {
    return !AtEnd(position) && Name(position) == name;
  }

  std::vector<Block> blocks_;
  std::size_t size_ = 0;
};

}  // namespace terrarium::storage
