#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace terrarium::apiserver {

// The warnings of one answer, limited as kube-apiserver limits them: each text once; when all of them are
// longer than 4,096 characters each is cut to 256, and no more are taken once what is sent has 4,096.
class WarningList {
 public:
  // No-op for a text that is there already, and when the list is full.
  void Add(std::string text);
  bool empty() const { return texts_.empty(); }
  // Nothing that is added makes a difference any more: callers that compare everything with everything can
  // stop.
  bool full() const { return size_ > kTotalMax && cut_size_ >= kTotalMax; }

  // Not cut, so that they can be added to another list.
  std::vector<std::string> TakeWhole() { return std::move(texts_); }
  // As they are sent.
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
