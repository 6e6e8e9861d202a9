#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "api/object.h"
#include "api/object_name.h"

namespace terrarium::controllers {

// The pods that have ended, in the order in which they are collected: evicted ones first, then the oldest.
class EndedPods {
 public:
  // Adds the pod if it has ended, and removes it otherwise.
  void Update(const api::Object& pod);
  void Remove(const api::ObjectName& pod);
  std::size_t size() const { return order_.size(); }
  std::vector<api::ObjectName> First(std::size_t count) const;

 private:
  // Not evicted, creation time, name, namespace.
  using Rank = std::tuple<bool, std::string, std::string, std::string>;
  std::set<Rank> order_;
  std::map<api::ObjectName, std::set<Rank>::iterator> places_;
};

}  // namespace terrarium::controllers
