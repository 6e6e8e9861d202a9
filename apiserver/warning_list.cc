#include "apiserver/warning_list.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace terrarium::apiserver {
namespace {

bool BeginsCharacter(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

std::size_t Characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), BeginsCharacter));
}

// The first `count` characters.
std::string Cut(std::string text, std::size_t count) {
  for (std::size_t i = 0; i < text.size(); ++i)
    if (BeginsCharacter(text[i]) && count-- == 0) {
      text.resize(i);
      break;
    }
  return text;
}

}  // namespace

void WarningList::Add(std::string text) {
  if (text.empty() || full() || !seen_.insert(text).second) return;
  const std::size_t size = Characters(text);
  size_ += size;
  cut_size_ += std::min(size, kItemMax);
  texts_.push_back(std::move(text));
}

std::vector<std::string> WarningList::Take() {
  if (size_ > kTotalMax)
    for (std::string& text : texts_) text = Cut(std::move(text), kItemMax);
  return std::move(texts_);
}

}  // namespace terrarium::apiserver
