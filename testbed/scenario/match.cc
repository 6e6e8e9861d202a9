#include "testbed/scenario/match.h"

#include <algorithm>

#include "api/json_access.h"

namespace terrarium::testbed::scenario {
namespace {

constexpr std::string_view kComparisons[] = {"atLeast", "atMost", "like", "not", "present"};

std::string Shown(const Json* value) {
  constexpr std::size_t kLengthMax = 300;
  if (value == nullptr || value->is_null()) return "(absent)";
  std::string text = value->dump();
  return text.size() > kLengthMax ? text.substr(0, kLengthMax) + "..." : text;
}

bool IsAbsent(const Json* value) { return value == nullptr || value->is_null(); }

bool Compares(std::string_view name, const Json& than, const Json* got);

bool MatchesAt(const Json& want, const Json* got) {
  if (want.is_null()) return IsAbsent(got);
  if (IsComparison(want))
    return std::all_of(want.items().begin(), want.items().end(),
                       [got](const auto& item) { return Compares(item.key(), item.value(), got); });
  if (IsAbsent(got)) return (want.is_object() || want.is_array()) && want.empty();
  return Matches(want, *got);
}

bool Compares(std::string_view name, const Json& than, const Json* got) {
  if (name == "not") return !MatchesAt(than, got);
  if (IsAbsent(got)) return false;
  if (name == "present") return true;
  if (name == "like")
    return got->is_string() && Like(than.get_ref<const std::string&>(), got->get_ref<const std::string&>());
  if (!got->is_number()) return false;
  return name == "atLeast" ? got->get<double>() >= than.get<double>()
                           : got->get<double>() <= than.get<double>();
}

bool IsListOfMappings(const Json& list) {
  return !list.empty() &&
         std::all_of(list.begin(), list.end(), [](const Json& item) { return item.is_object(); });
}

// For each item of `want`, whether it matches an item of `got` that no earlier item has taken. The search is
// greedy, which is enough for lists of conditions, containers and ports.
std::vector<bool> FoundItems(const Json& want, const Json& got) {
  std::vector<bool> taken(got.size(), false);
  std::vector<bool> found(want.size(), false);
  for (std::size_t i = 0; i < want.size(); ++i)
    for (std::size_t j = 0; j < got.size() && !found[i]; ++j) {
      if (taken[j] || !Matches(want[i], got[j])) continue;
      taken[j] = true;
      found[i] = true;
    }
  return found;
}

// The key that identifies the item within its list. Empty: it has none.
std::string_view NameKey(const Json& item) {
  for (std::string_view key : {"type", "name", "key", "uid"})
    if (!api::StringAt(item, key).empty()) return key;
  return {};
}

class Collector {
 public:
  explicit Collector(std::vector<Difference>& out) : out_(out) {}

  void At(const std::string& path, const Json& want, const Json* got) {
    if (MatchesAt(want, got)) return;
    bool both_objects = want.is_object() && !IsComparison(want) && !IsAbsent(got) && got->is_object();
    if (both_objects) {
      for (const auto& [key, value] : want.items())
        At(path.empty() ? key : path + "." + key, value, api::Find(*got, key));
    } else if (want.is_array() && IsListOfMappings(want) && !IsAbsent(got) && got->is_array()) {
      Items(path, want, *got);
    } else {
      out_.push_back(
          {path.empty() ? "(the object)" : path, want.is_null() ? "(absent)" : want.dump(), Shown(got)});
    }
  }

 private:
  void Items(const std::string& path, const Json& want, const Json& got) {
    std::vector<bool> found = FoundItems(want, got);
    for (std::size_t i = 0; i < want.size(); ++i) {
      if (found[i]) continue;
      const std::string_view key = NameKey(want[i]);
      const Json* same = nullptr;
      for (const Json& item : got)
        if (!key.empty() && api::StringAt(item, key) == api::StringAt(want[i], key)) same = &item;
      if (same != nullptr)
        At(path + "[" + std::string(key) + "=" + std::string(api::StringAt(want[i], key)) + "]", want[i],
           same);
      else
        out_.push_back({path, "an item that matches " + want[i].dump(), Listed(got, key)});
    }
  }
  // Lists the items by `key`, or the whole list if an item lacks it.
  static std::string Listed(const Json& list, std::string_view key) {
    std::string out;
    for (const Json& item : list) {
      const std::string_view name = key.empty() ? std::string_view() : api::StringAt(item, key);
      if (name.empty()) return Shown(&list);
      out += (out.empty() ? "items with " + std::string(key) + " " : ", ") + std::string(name);
    }
    return out.empty() ? Shown(&list) : out;
  }

  std::vector<Difference>& out_;
};

}  // namespace

bool Matches(const Json& want, const Json& got) {
  if (want.is_object() && !IsComparison(want)) {
    if (!got.is_object()) return false;
    return std::all_of(want.items().begin(), want.items().end(), [&got](const auto& item) {
      return MatchesAt(item.value(), api::Find(got, item.key()));
    });
  }
  if (want.is_array() && IsListOfMappings(want)) {
    if (!got.is_array()) return false;
    std::vector<bool> found = FoundItems(want, got);
    return std::all_of(found.begin(), found.end(), [](bool each) { return each; });
  }
  if (IsComparison(want) || want.is_null()) return MatchesAt(want, &got);
  return want == got;
}

std::vector<Difference> Differences(const Json& want, const Json& got) {
  std::vector<Difference> out;
  Collector(out).At("", want, &got);
  return out;
}

bool IsComparison(const Json& value) {
  if (!value.is_object() || value.empty()) return false;
  return std::all_of(value.items().begin(), value.items().end(), [](const auto& item) {
    return std::find(std::begin(kComparisons), std::end(kComparisons), item.key()) != std::end(kComparisons);
  });
}

std::string WrongComparison(const Json& value) {
  for (const auto& [name, than] : value.items()) {
    if (name == "like" && !than.is_string()) return "like takes a string in which * stands for anything";
    if ((name == "atLeast" || name == "atMost") && !than.is_number()) return name + " takes a number";
    if (name == "present" && than != true) return "present takes true; a field that is to be absent is null";
  }
  return "";
}

bool Like(std::string_view pattern, std::string_view text) {
  // Backtracking: on a mismatch, the last * takes one more character and the match resumes after it.
  std::size_t p = 0, t = 0, star = std::string_view::npos, swallowed = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      swallowed = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++swallowed;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace terrarium::testbed::scenario
