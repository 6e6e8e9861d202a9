#pragma once

#include <cstddef>
#include <string_view>

namespace terrarium::api {

// Where `word` first stands in `text`, npos if nowhere: for questions about the text of a document that are asked of every
// event of every pod. Looks for the word's character `rare`, since the usual way looks for its first one, and every other
// character of a document is a quote. REQUIRES: `rare` is in `word`.
inline std::size_t FindText(std::string_view text, std::string_view word, char rare) {
  const std::size_t offset = word.find(rare);
  for (std::size_t at = text.find(rare, offset); at != std::string_view::npos; at = text.find(rare, at + 1))
    if (text.substr(at - offset, word.size()) == word) return at - offset;
  return std::string_view::npos;
}

}  // namespace terrarium::api
