#include "apiserver/internal/printable.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace terrarium::apiserver {
namespace {

TEST(FirstCharacter, IsReadFromUtf8) {
  const struct {
    std::string_view text;
    char32_t code;
    std::size_t bytes;
  } cases[] = {
      {"a", 'a', 1},
      {"\xC3\xA9t", 0xE9, 2},
      {"\xE2\x82\xAC", 0x20AC, 3},
      {"\xF0\x9F\x8C\xB1", 0x1F331, 4},
  };
  for (const auto& each : cases) {
    const Character character = FirstCharacter(each.text);
    EXPECT_EQ(character.code, each.code) << each.text;
    EXPECT_EQ(character.bytes, each.bytes) << each.text;
  }
}

TEST(FirstCharacter, OfInvalidUtf8IsOneByteLong) {
  // A continuation byte, an overlong form, a cut-off character, a surrogate, and a code that is too large.
  for (std::string_view text : {"\x80", "\xC0\x80", "\xE2\x82", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xFF"}) {
    const Character character = FirstCharacter(text);
    EXPECT_EQ(character.code, 0xFFFDU);
    EXPECT_EQ(character.bytes, 1U);
  }
}

TEST(IsPrintable, IsSoForLettersMarksNumbersPunctuationAndSymbols) {
  for (char32_t code :
       {U' ', U'a', U'~', U'\u00A1', U'\u00E9', U'\u0301', U'\u20AC', U'\u4E2D', U'\uFFFD', U'\U0001F331'})
    EXPECT_TRUE(IsPrintable(code)) << static_cast<unsigned>(code);
}

TEST(IsPrintable, IsNotSoForControlsOtherSpacesAndFormatCharacters) {
  for (char32_t code : {0x00, 0x0A, 0x1F, 0x7F, 0x85, 0xA0, 0xAD, 0x200B, 0x202E, 0x2028, 0x3000, 0xE000,
                        0xFEFF, 0xE0001, 0x10FFFF})
    EXPECT_FALSE(IsPrintable(code)) << static_cast<unsigned>(code);
}

}  // namespace
}  // namespace terrarium::apiserver
