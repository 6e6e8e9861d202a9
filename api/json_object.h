#pragma once

// The members of a JSON object: one array, sorted by name.
//
// Adding or erasing one member moves those behind it, which is cheap for the objects that documents are made
// of and quadratic for a client that sends 200,000 members. Code that handles what a client has sent
// therefore changes many members in one pass: AppendUnsorted and SortMembers, AddSorted, EraseIf.

#include <algorithm>
#include <compare>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/member_name.h"

namespace terrarium::api {

template <typename T>
struct JsonMember {
  template <typename... Args>
  explicit JsonMember(MemberName name, Args&&... value)
      : first(std::move(name)), second(std::forward<Args>(value)...) {}
  JsonMember(const std::string& name, T value) : first(name), second(std::move(value)) {}
  MemberName first;
  T second;
};

// The part of std::map that the JSON library and we use. Unlike a map's, references to members and iterators
// die when a member is added or erased, so code must not keep a reference into an object that it changes. In
// a debug build every such change of an object of moderate size moves all members, so that tests and
// sanitizers find code that does.
template <typename Key, typename T, typename... Unused>
class JsonObject {
 public:
  using key_type = Key;
  using mapped_type = T;
  using value_type = JsonMember<T>;
  using key_compare = std::less<>;
  using container = std::vector<value_type>;
  using iterator = typename container::iterator;
  using const_iterator = typename container::const_iterator;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using reference = value_type&;
  using const_reference = const value_type&;

  JsonObject() = default;
  template <typename It>
  JsonObject(It begin, It end) {
    insert(begin, end);
  }
  // REQUIRES: sorted by name, each name once.
  explicit JsonObject(container members) : members_(std::move(members)) {}

  iterator begin() { return members_.begin(); }
  iterator end() { return members_.end(); }
  const_iterator begin() const { return members_.begin(); }
  const_iterator end() const { return members_.end(); }
  const_iterator cbegin() const { return members_.begin(); }
  const_iterator cend() const { return members_.end(); }
  bool empty() const { return members_.empty(); }
  size_type size() const { return members_.size(); }
  size_type max_size() const { return members_.max_size(); }
  void clear() { members_.clear(); }
  void reserve(size_type size) { members_.reserve(size); }

  iterator find(std::string_view name) {
    return members_.begin() + (std::as_const(*this).find(name) - cbegin());
  }
  const_iterator find(std::string_view name) const {
    if (size() <= kScanned) {
      if (const std::string* shared = MemberName::FindShared(name)) return FindShared(shared);
    }
    const_iterator found = lower_bound(name);
    return found != cend() && found->first.text() == name ? found : cend();
  }
  size_type count(std::string_view name) const { return find(name) == end() ? 0 : 1; }
  const_iterator lower_bound(std::string_view name) const {
    return std::lower_bound(cbegin(), cend(), name, [](const value_type& member, std::string_view n) {
      return member.first.text() < n;
    });
  }

  T& operator[](std::string_view name) { return emplace(name).first->second; }
  T& at(std::string_view name) {
    auto it = find(name);
    if (it == end()) throw std::out_of_range("no such member");
    return it->second;
  }

  template <typename... Args>
  std::pair<iterator, bool> emplace(std::string_view text, Args&&... value) {
    MemberName name(text);
    if (members_.empty() || members_.back().first.text() < text) {
      if (members_.capacity() == 0) members_.reserve(kFirstCapacity);
      members_.emplace_back(std::move(name), std::forward<Args>(value)...);
      return {Moved(std::prev(members_.end())), true};
    }
    const std::string* shared = size() <= kScanned ? name.shared() : nullptr;
    const_iterator found = shared != nullptr ? FindShared(shared) : std::as_const(*this).find(text);
    if (found != cend()) return {members_.begin() + (found - cbegin()), false};
    value_type member(std::move(name), std::forward<Args>(value)...);
    return {Moved(members_.insert(lower_bound(text), std::move(member))), true};
  }
  template <typename... Args>
  std::pair<iterator, bool> try_emplace(std::string_view name, Args&&... value) {
    return emplace(name, std::forward<Args>(value)...);
  }
  std::pair<iterator, bool> insert(const value_type& member) {
    return emplace(member.first.text(), member.second);
  }
  template <typename It>
  void insert(It begin, It end) {
    for (; begin != end; ++begin) emplace(begin->first, begin->second);
  }

  iterator erase(const_iterator at) { return Moved(members_.erase(at)); }
  iterator erase(const_iterator begin, const_iterator end) { return Moved(members_.erase(begin, end)); }
  size_type erase(std::string_view name) {
    auto found = find(name);
    if (found == end()) return 0;
    erase(found);
    return 1;
  }

  // Erases in one pass the members for which `gone(member)` is true. It is called once for each, in order,
  // and may change the member's value.
  template <typename Gone>
  size_type EraseIf(Gone gone) {
    auto kept = members_.begin();
    for (auto it = members_.begin(); it != members_.end(); ++it) {
      if (gone(*it)) continue;
      if (kept != it) *kept = std::move(*it);
      ++kept;
    }
    const auto erased = static_cast<size_type>(members_.end() - kept);
    members_.erase(kept, members_.end());
    return erased;
  }

  // Appends a member without sorting. REQUIRES: SortMembers() is called before anything but more of these.
  T& AppendUnsorted(std::string_view name) {
    if (members_.capacity() == 0) members_.reserve(kFirstCapacity);
    return members_.emplace_back(MemberName(name)).second;
  }
  // Brings the members into order. Of several with one name the last one stays; returns whether there were
  // such.
  bool SortMembers() {
    auto less = [](const value_type& a, const value_type& b) { return a.first.text() < b.first.text(); };
    if (!std::is_sorted(members_.begin(), members_.end(), less))
      std::stable_sort(members_.begin(), members_.end(), less);
    auto same = [](const value_type& a, const value_type& b) { return a.first == b.first; };
    if (std::adjacent_find(members_.begin(), members_.end(), same) == members_.end()) return false;
    // From behind, so that unique() keeps the last.
    auto kept = std::unique(members_.rbegin(), members_.rend(), same).base();
    members_.erase(members_.begin(), kept);
    return true;
  }
  // Adds many members in one pass. REQUIRES: they are sorted by name, each name once, and none of them is
  // here.
  void AddSorted(container added) {
    if (added.empty()) return;
    const auto old_size = static_cast<difference_type>(members_.size());
    members_.insert(members_.end(), std::make_move_iterator(added.begin()),
                    std::make_move_iterator(added.end()));
    auto less = [](const value_type& a, const value_type& b) { return a.first.text() < b.first.text(); };
    std::inplace_merge(members_.begin(), members_.begin() + old_size, members_.end(), less);
  }

  friend bool operator==(const JsonObject& a, const JsonObject& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const value_type& x, const value_type& y) {
      return x.first == y.first && x.second == y.second;
    });
  }
  friend std::partial_ordering operator<=>(const JsonObject& a, const JsonObject& b) {
    return std::lexicographical_compare_three_way(
        a.begin(), a.end(), b.begin(), b.end(),
        [](const value_type& x, const value_type& y) -> std::partial_ordering {
          if (!(x.first == y.first)) return x.first.text() <=> y.first.text();
          return x.second <=> y.second;
        });
  }

 private:
  // Of an object that is built member by member: few have more, and they do not live long.
  static constexpr size_type kFirstCapacity = 8;
  // Up to this size comparing every name, which is a pointer, is faster than comparing some of the texts.
  static constexpr size_type kScanned = 32;
#ifndef NDEBUG
  static constexpr size_type kMovedMax = 256;
#endif

  const_iterator FindShared(const std::string* name) const {
    return std::find_if(cbegin(), cend(),
                        [&](const value_type& member) { return member.first.IsShared(name); });
  }

  iterator Moved(iterator at) {
#ifndef NDEBUG
    if (members_.size() > kMovedMax) return at;
    const auto index = at - members_.begin();
    container elsewhere;
    elsewhere.reserve(members_.size());
    std::move(members_.begin(), members_.end(), std::back_inserter(elsewhere));
    members_ = std::move(elsewhere);
    return members_.begin() + index;
#else
    return at;
#endif
  }

  container members_;
};

}  // namespace terrarium::api
