#pragma once

// A limit on the bytes that all connections together may buffer, and the share of one connection. The budget
// is thread-safe and outlives its shares; a share belongs to one thread at a time.

#include <atomic>
#include <cstddef>
#include <utility>

namespace terrarium::apiserver {

class ByteBudget {
 public:
  explicit ByteBudget(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  // False, without effect: the limit would be exceeded.
  bool TryTake(std::size_t bytes) {
    if (used_.fetch_add(bytes, std::memory_order_relaxed) + bytes <= bytes_max_) return true;
    GiveBack(bytes);
    return false;
  }
  void GiveBack(std::size_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }
  std::size_t used() const { return used_.load(std::memory_order_relaxed); }

 private:
  const std::size_t bytes_max_;
  std::atomic<std::size_t> used_ = 0;
};

class BudgetShare {
 public:
  explicit BudgetShare(ByteBudget& budget) : budget_(&budget) {}
  BudgetShare(BudgetShare&& other) noexcept
      : budget_(other.budget_), bytes_(std::exchange(other.bytes_, 0)) {}
  BudgetShare& operator=(BudgetShare&&) = delete;
  ~BudgetShare() { Reset(); }

  // Changes the size of the share. False, without effect: the limit would be exceeded.
  bool Resize(std::size_t bytes) {
    if (bytes > bytes_ && !budget_->TryTake(bytes - bytes_)) return false;
    if (bytes < bytes_) budget_->GiveBack(bytes_ - bytes);
    bytes_ = bytes;
    return true;
  }
  void Reset() {
    if (bytes_ > 0) budget_->GiveBack(std::exchange(bytes_, 0));
  }
  std::size_t bytes() const { return bytes_; }

 private:
  ByteBudget* budget_;
  std::size_t bytes_ = 0;
};

}  // namespace terrarium::apiserver
