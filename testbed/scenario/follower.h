#pragma once

// Follows the objects of one resource through every revision and counts those that somebody is interested in, so that no
// state is missed however much happens between two looks. What a revision costs does not grow with the number of objects.

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
    std::int64_t counts = 0;  // how much it adds to selected(); 0: it is none of those meant
    bool matches = false;     // it looks as expected
  };
  using Judge = std::function<Judged(const api::ObjectPtr& object)>;

  // Begins with what there is.
  Follower(storage::Store& store, std::string resource, Judge judge);

  // Goes on to the next revision of the resource. False: there is none yet.
  bool Next();

  std::int64_t revision() const { return revision_; }
  std::int64_t selected() const { return selected_; }  // the sum of what counts
  std::int64_t objects() const { return objects_; }    // how many objects that are
  std::int64_t matching() const { return matching_; }  // how many of those match
  // Those meant, or of those the ones that do not match.
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
  std::vector<storage::Event> taken_;  // in order, from next_ on
  std::size_t next_ = 0;
  std::map<api::ObjectName, Entry> entries_;
  std::int64_t revision_ = 0;
  std::int64_t selected_ = 0;
  std::int64_t objects_ = 0;
  std::int64_t matching_ = 0;
};

}  // namespace terrarium::testbed::scenario
