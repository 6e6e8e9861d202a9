#pragma once

// Which objects a step is about: KIND/NAME, or KIND with a selector and a partial match beside it.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/status.h"
#include "api/object.h"
#include "api/selector/label_selector.h"
#include "apiserver/resource_table.h"
#include "testbed/scenario/shape.h"
#include "testbed/testbed.h"

namespace terrarium::testbed::scenario {

struct KindAndName {
  const apiserver::ResourceInfo* resource;
  std::string name;  // empty: several
};
// "deployment/web", "pods", with whatever kubectl accepts for a kind. 400 with the words of what is wrong.
api::Result<KindAndName> ParseKindAndName(std::string_view text);
// All words for kinds, joined by '|'.
std::string JoinedKindWords();
// The resource of an object that tells its apiVersion and kind; nullptr: none is served, or none is kept.
const apiserver::ResourceInfo* ResourceOfManifest(const Json& manifest);

// The keys beside the verb that say which objects.
const Members& NamespaceMember();   // namespace
const Members& SelectionMembers();  // namespace, selector, where
const Members& ActingMembers();     // the same, and first

class ObjectTarget {
 public:
  // REQUIRES: the step has been checked.
  static ObjectTarget Of(const Json& step, const std::string& verb);

  const apiserver::ResourceInfo& resource() const { return *resource_; }
  std::string Storage() const { return std::string(resource_->storage); }
  const std::string& name() const { return name_; }
  const std::string& ns() const { return ns_; }
  bool Selects(const api::ObjectPtr& object) const;
  // Those there are now, oldest first; of a named one, that one or nothing.
  std::vector<api::ObjectPtr> Select(Testbed& bed) const;
  // "deployment default/web", "pods with app=web".
  std::string String() const;

 private:
  const apiserver::ResourceInfo* resource_ = nullptr;
  std::string name_;
  std::string ns_;  // empty for kinds that have none
  std::optional<api::LabelSelector> selector_;
  Json where_;
  std::size_t first_ = 0;  // 0: all
};

// What shapes cannot say about the keys of a target: a namespace where there are none, a selector beside a name, a
// field in `where` that the kind does not have. `only`: the one resource that the step is for; empty: any.
void CheckTarget(const Json& step, const std::string& verb, const std::string& path, std::string_view only,
                 Mistakes& mistakes);

}  // namespace terrarium::testbed::scenario
