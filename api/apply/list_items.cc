#include "api/apply/list_items.h"

#include <algorithm>
#include <utility>

namespace terrarium::api {

std::optional<std::vector<ListItem>> ListItems(const ValueType& type, const Json* list, std::string* error) {
  std::vector<ListItem> items;
  if (list == nullptr || !list->is_array()) return items;
  items.reserve(list->size());
  for (std::size_t i = 0; i < list->size(); ++i) {
    std::optional<PathElement> element = type.ElementOf((*list)[i], error);
    if (!element) {
      error->insert(0, "element " + std::to_string(i) + ": ");
      return std::nullopt;
    }
    items.push_back({std::move(*element), &(*list)[i]});
  }
  return items;
}

std::optional<std::vector<ListItem>> SortedListItems(const ValueType& type, const Json* list,
                                                     std::string* error) {
  auto items = ListItems(type, list, error);
  if (items)
    std::stable_sort(items->begin(), items->end(),
                     [](const ListItem& a, const ListItem& b) { return a.element < b.element; });
  return items;
}

}  // namespace terrarium::api
