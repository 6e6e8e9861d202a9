#pragma once

// The objects of a step: KIND/NAME, or KIND with a selector and a partial match.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/status.h"
#include "api/object.h"
#include "api/selector/label_selector.h"
#include "apiserver/resource_table.h"
#include "testbed/embedding/testbed.h"
#include "testbed/scenario/shape.h"

namespace terrarium::testbed::scenario {

struct KindAndName {
  const apiserver::ResourceInfo* resource;
  std::string name;  // empty: all objects of the kind
};
// Parses "deployment/web" or "pods"; accepts the same words for a kind as kubectl. Fails with 400 and a
// message.
api::Result<KindAndName> ParseKindAndName(std::string_view text);
// All words for kinds, joined by '|'.
std::string JoinedKindWords();
// The resource of an object, by its apiVersion and kind. nullptr: it is not served or not stored.
const apiserver::ResourceInfo* ResourceOfManifest(const Json& manifest);

// The keys beside the verb that select objects.
const Members& NamespaceMember();   // namespace
const Members& SelectionMembers();  // namespace, selector, where
const Members& ActingMembers();     // namespace, selector, where, first

class ObjectTarget {
 public:
  // REQUIRES: the step has been checked.
  static ObjectTarget Of(const Json& step, const std::string& verb);

  const apiserver::ResourceInfo& resource() const { return *resource_; }
  std::string Storage() const { return std::string(resource_->storage); }
  const std::string& name() const { return name_; }
  const std::string& ns() const { return ns_; }
  bool Selects(const api::ObjectPtr& object) const;
  // The selected objects that exist now, oldest first.
  std::vector<api::ObjectPtr> Select(Testbed& bed) const;
  // "deployment default/web", "pods with app=web".
  std::string String() const;

 private:
  const apiserver::ResourceInfo* resource_ = nullptr;
  std::string name_;
  std::string ns_;  // empty for cluster-scoped kinds
  std::optional<api::LabelSelector> selector_;
  Json where_;
  std::size_t first_ = 0;  // 0: all
};

// Checks what a shape cannot express: a namespace of a cluster-scoped kind, a selector beside a name, an
// unknown field in `where`. `only`: the single resource that the step accepts; empty: any.
void CheckTarget(const Json& step, const std::string& verb, const std::string& path, std::string_view only,
                 Mistakes& mistakes);

}  // namespace terrarium::testbed::scenario
