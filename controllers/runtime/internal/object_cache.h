#pragma once

// The objects an informer holds, by name and by index. The cost of a change does not grow with their number,
// and an update that leaves the index values unchanged touches no index.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/object.h"
#include "api/object_name.h"
#include "controllers/runtime/informer.h"

namespace terrarium::controllers {

class ObjectCache {
 public:
  // A change of the object of one name; nullptr: no object before, or after.
  struct Change {
    ObjectPtr before;
    ObjectPtr after;
  };

  // Adds or replaces the object of that name. Returns the replaced object.
  ObjectPtr Put(ObjectPtr object);
  // Returns the removed object.
  ObjectPtr Remove(const ObjectName& name);
  // Makes the cache hold exactly `items`. Returns the changes in the order of `items`, then the deletions by
  // name; objects with an unchanged revision are left out.
  std::vector<Change> Replace(const std::vector<ObjectPtr>& items);

  void AddIndex(const std::string& name, IndexFunction values);

  ObjectPtr Get(const ObjectName& name) const;
  std::vector<ObjectPtr> List(const std::optional<std::string>& ns) const;
  // REQUIRES: the index exists.
  std::vector<ObjectPtr> ByIndex(const std::string& index, const std::string& value) const;
  std::size_t size() const { return objects_.size(); }

 private:
  struct Held;
  using Objects = std::map<ObjectName, Held>;
  using Node = Objects::value_type;
  struct NodeOrder {
    bool operator()(const Node* a, const Node* b) const;
  };
  using Bucket = std::set<const Node*, NodeOrder>;
  using Buckets = std::map<std::string, Bucket, std::less<>>;
  struct Index {
    IndexFunction values;
    Buckets buckets;
  };
  struct Held {
    ObjectPtr object;
    std::uint64_t seen = 0;                              // the last Replace() that had it
    std::vector<std::vector<Buckets::iterator>> places;  // for each index, where the object is in it
  };

  ObjectPtr PutInto(Objects::iterator place, ObjectPtr object);
  void Place(Node& node, std::size_t index);
  void Displace(const Node& node, std::size_t index);
  ObjectPtr Erase(Objects::iterator place);

  Objects objects_;
  std::vector<Index> indexes_;
  std::map<std::string, std::size_t, std::less<>> index_names_;
  std::uint64_t replaced_ = 0;
};

}  // namespace terrarium::controllers
