#pragma once

// Follows the objects of one resource through every revision and counts the selected ones, so that no state
// between two checks is missed. A revision costs O(log n) for n selected objects.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/object.h"
#include "api/object_name.h"
#include "storage/store.h"

namespace terrarium::testbed::scenario {

class Follower {
 public:
  struct Judged {
    std::int64_t counts = 0;  // what the object adds to selected(); 0: not selected
    bool matches = false;     // the object is as expected
  };
  using Judge = std::function<Judged(const api::ObjectPtr& object)>;

  // Starts with the current objects.
  Follower(storage::Store& store, std::string resource, Judge judge);

  // Advances to the next revision of the resource. Returns false if there is none yet.
  bool Next();

  std::int64_t revision() const { return revision_; }
  std::int64_t selected() const { return selected_; }  // the sum of Judged::counts
  std::int64_t objects() const { return objects_; }    // the number of selected objects
  std::int64_t matching() const { return matching_; }  // the number of selected objects that match
  // All selected objects, and the selected objects that do not match.
  std::vector<api::ObjectPtr> Selected() const { return Filtered(false); }
  std::vector<api::ObjectPtr> Mismatching() const { return Filtered(true); }

 private:
  struct Entry {
    api::ObjectPtr object;
    Judged judged;
  };
  void Put(const api::ObjectPtr& object);
  void Remove(const api::ObjectName& name);
  std::vector<api::ObjectPtr> Filtered(bool mismatching_only) const;

  Judge judge_;
  std::unique_ptr<storage::Watch> watch_;
  std::vector<storage::Event> taken_;  // in order; not yet processed from next_ on
  std::size_t next_ = 0;
  std::map<api::ObjectName, Entry> entries_;
  std::int64_t revision_ = 0;
  std::int64_t selected_ = 0;
  std::int64_t objects_ = 0;
  std::int64_t matching_ = 0;
};

}  // namespace terrarium::testbed::scenario
