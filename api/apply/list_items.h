#pragma once

// The items of an associative list by their path elements.

#include <optional>
#include <string>
#include <vector>

#include "api/apply/value_type.h"

namespace terrarium::api {

struct ListItem {
  PathElement element;
  const Json* value;
};

// The items of `list` in its order. `list` may be nullptr or null. Returns nullopt when an item has no path
// element, and sets *error ("element 2: ...").
std::optional<std::vector<ListItem>> ListItems(const ValueType& type, const Json* list, std::string* error);

// The same, sorted by element; equal ones keep their order.
std::optional<std::vector<ListItem>> SortedListItems(const ValueType& type, const Json* list,
                                                     std::string* error);

}  // namespace terrarium::api
