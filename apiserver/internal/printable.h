#pragma once

// Characters that a name of a field manager may have, by the rules of Go's unicode.IsPrint.

#include <cstddef>
#include <string_view>

namespace terrarium::apiserver {

struct Character {
  char32_t code = 0;
  std::size_t bytes = 0;  // of the text
};

// The first character of a text that is not empty. A byte that is not part of valid UTF-8 is U+FFFD.
Character FirstCharacter(std::string_view text);

// Whether the character is a letter, mark, number, punctuation, symbol or the space of ASCII. Code points
// that Unicode has not assigned count as printable.
bool IsPrintable(char32_t code);

}  // namespace terrarium::apiserver
