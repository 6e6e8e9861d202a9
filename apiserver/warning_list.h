#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace terrarium::apiserver {

// The warnings of one response, limited as in kube-apiserver: each text once; if all of them together exceed
// 4,096 characters, each is cut to 256 and those beyond 4,096 are dropped.
class WarningList {
 public:
  // A no-op for a repeated text, and when the list is full.
  void Add(std::string text);
  bool empty() const { return texts_.empty(); }
  // Further texts have no effect, so that callers with quadratic checks can stop.
  bool full() const { return size_ > kTotalMax && cut_size_ >= kTotalMax; }

  // Uncut, to be added to another list.
  std::vector<std::string> TakeWhole() { return std::move(texts_); }
  // As sent to the client.
  std::vector<std::string> Take();

 private:
  static constexpr std::size_t kTotalMax = 4096;
  static constexpr std::size_t kItemMax = 256;

  std::vector<std::string> texts_;
  std::set<std::string> seen_;
  // In characters: of the texts, and of the texts when each is cut.
  std::size_t size_ = 0, cut_size_ = 0;
};

}  // namespace terrarium::apiserver
