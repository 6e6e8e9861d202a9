#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "api/base/check.h"
#include "api/json.h"

namespace terrarium::api {

// Changes many members of an object in one pass. Adding or erasing one by one would move all members behind
// each of them. The object must not be used in any other way until Apply(), which makes additions and
// erasures visible.
class MemberChanges {
 public:
  // REQUIRES: `object` is a JSON object.
  explicit MemberChanges(Json& object) : members_(object.get_ref<Json::object_t&>()) {}

  // The value as changed so far, or nullptr when there is none. Valid until the next change.
  Json* Find(std::string_view name) {
    auto it = members_.find(name);
    if (it != members_.end()) return it->second.is_discarded() ? nullptr : &it->second;
    auto added =
        std::lower_bound(added_.begin(), added_.end(), name,
                         [](const auto& member, std::string_view n) { return member.first.text() < n; });
    return added != added_.end() && added->first.text() == name ? &added->second : nullptr;
  }

  // REQUIRES: new members are set in the order of their names, each once, and are not erased.
  void Set(std::string_view name, Json value) {
    if (auto it = members_.find(name); it != members_.end()) {
      it->second = std::move(value);
      return;
    }
    CHECK(added_.empty() || added_.back().first.text() < name);
    added_.emplace_back(MemberName(name), std::move(value));
  }

  // No-op when the object has no such member.
  void Erase(std::string_view name) {
    auto it = members_.find(name);
    if (it == members_.end()) return;
    it->second = Json(Json::value_t::discarded);
    erased_ = true;
  }

  // Returns the cost: the number of members of the object, or 0 when none was added or erased.
  std::size_t Apply() {
    if (!erased_ && added_.empty()) return 0;
    if (erased_) members_.EraseIf([](const auto& member) { return member.second.is_discarded(); });
    members_.AddSorted(std::exchange(added_, {}));
    erased_ = false;
    return members_.size();
  }

 private:
  Json::object_t& members_;
  Json::object_t::container added_;
  bool erased_ = false;  // some value is marked as discarded; documents hold no such values otherwise
};

}  // namespace terrarium::api
