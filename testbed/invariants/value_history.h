#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <set>
#include <utility>

namespace terrarium::testbed::invariants {

// The values of a count by revision, since a controller last reported one of them. A controller reports from
// an old view, so each of these values is correct. Its views never go back, so a report makes all older
// values incorrect. Every method takes O(log n), amortized.
template <typename T>
class ValueHistory {
 public:
  // The number of values remembered without a report.
  static constexpr std::size_t kValuesMax = 50'000;

  // Sets the value from `revision` on. REQUIRES: `revision` is newer than that of the last different value.
  void Add(std::int64_t revision, const T& value) {
    if (!values_.empty() && values_.back().second == value) return;
    values_.emplace_back(revision, value);
    index_.emplace(value, revision);
    if (values_.size() <= kValuesMax) return;
    ForgetOldest();
    loose_ = true;
  }

  // Whether `value` is a valid report of this history. It is taken as a report of the earliest matching
  // revision, so that the next report is judged the least strictly.
  bool Matches(const T& value) {
    auto found = index_.lower_bound({value, std::numeric_limits<std::int64_t>::min()});
    if (found == index_.end() || found->first != value) return loose_;
    std::int64_t revision = found->second;
    while (values_.front().first < revision) ForgetOldest();
    loose_ = false;
    return true;
  }

  // Lets every report pass until one matches. For changes of what is counted, which a controller with mixed
  // views may count differently.
  void Loosen() { loose_ = true; }

  // REQUIRES: a value was added.
  std::int64_t since() const { return values_.front().first; }
  std::size_t size() const { return values_.size(); }

 private:
  void ForgetOldest() {
    index_.erase({values_.front().second, values_.front().first});
    values_.pop_front();
  }

  std::deque<std::pair<std::int64_t, T>> values_;
  std::set<std::pair<T, std::int64_t>> index_;
  bool loose_ = false;
};

}  // namespace terrarium::testbed::invariants
