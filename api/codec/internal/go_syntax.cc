#include "api/codec/internal/go_syntax.h"

#include <cstdio>
#include <vector>

#include "api/codec/go_words.h"

namespace terrarium::api {
namespace {

constexpr const char* kEnd = "unexpected end of JSON input";

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
bool IsHex(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// The character in single quotes, the way Go prints a byte.
std::string QuoteChar(char c) {
  if (c == '\'') return R"('\'')";
  if (c == '"') return "'\"'";
  const auto byte = static_cast<unsigned char>(c);
  if (byte < 0x80) {
    const std::string quoted = GoQuote({&c, 1});
    return "'" + quoted.substr(1, quoted.size() - 2) + "'";
  }
  // Go takes the byte for a code point and prints it when it is a printable one.
  char text[16];
  if (byte < 0xa0) {
    std::snprintf(text, sizeof text, "'\\u%04x'", byte);
  } else {
    std::snprintf(text, sizeof text, "'%c%c'", 0xc0 | byte >> 6, 0x80 | (byte & 0x3f));
  }
  return text;
}

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}
  std::string Run();

 private:
  // Each returns false after setting error_.
  bool Value();
  bool Key();
  bool String();
  bool Number();
  bool Digits(const char* where);
  bool Literal(std::string_view word);
  bool AfterValue(bool* done);

  void Space() {
    while (pos_ < text_.size() && IsSpace(text_[pos_])) ++pos_;
  }
  bool AtEnd() const { return pos_ >= text_.size(); }
  char Peek() const { return text_[pos_]; }
  bool Fail(const std::string& where) {
    error_ = AtEnd() ? kEnd : "invalid character " + QuoteChar(Peek()) + " " + where;
    return false;
  }

  // Go looks at the end as at a space, which is as wrong as anything inside a literal, a number or an escape.
  bool FailInToken(const std::string& where) {
    error_ = "invalid character " + QuoteChar(AtEnd() ? ' ' : Peek()) + " " + where;
    return false;
  }

  std::string_view text_;
  std::size_t pos_ = 0;
  std::vector<char> open_;  // '{' or '['
  std::string error_;
};

std::string Scanner::Run() {
  bool done = false;
  while (!done) {
    if (!Value()) return error_;
    // Value() stops behind a bracket that opens something not empty, or behind a whole value.
    if (!AfterValue(&done)) return error_;
  }
  Space();
  if (!AtEnd()) Fail("after top-level value");
  return error_.empty() ? "invalid JSON" : error_;
}

// Reads a scalar, an empty collection, or the start of one up to its first value.
bool Scanner::Value() {
  for (;;) {
    Space();
    if (AtEnd()) return Fail("");
    const char c = Peek();
    if (c == '"') return String();
    if (c == '-' || IsDigit(c)) return Number();
    if (c == 't') return Literal("true");
    if (c == 'f') return Literal("false");
    if (c == 'n') return Literal("null");
    if (c != '{' && c != '[') return Fail("looking for beginning of value");
    ++pos_;
    Space();
    if (!AtEnd() && Peek() == (c == '{' ? '}' : ']')) {
      ++pos_;
      return true;
    }
    open_.push_back(c);
    if (c == '{' && !Key()) return false;
  }
}

bool Scanner::Key() {
  Space();
  if (AtEnd() || Peek() != '"') return Fail("looking for beginning of object key string");
  if (!String()) return false;
  Space();
  if (AtEnd() || Peek() != ':') return Fail("after object key");
  ++pos_;
  return true;
}

bool Scanner::AfterValue(bool* done) {
  for (;;) {
    if (open_.empty()) {
      *done = true;
      return true;
    }
    Space();
    const bool object = open_.back() == '{';
    if (!AtEnd() && Peek() == ',') {
      ++pos_;
      return !object || Key();
    }
    if (AtEnd() || Peek() != (object ? '}' : ']')) {
      return Fail(object ? "after object key:value pair" : "after array element");
    }
    ++pos_;
    open_.pop_back();
  }
}

bool Scanner::String() {
  for (++pos_; !AtEnd(); ++pos_) {
    const char c = Peek();
    if (c == '"') {
      ++pos_;
      return true;
    }
    if (static_cast<unsigned char>(c) < 0x20) return Fail("in string literal");
    if (c != '\\') continue;
    ++pos_;
    if (AtEnd() || std::string_view("bfnrt\\/\"u").find(Peek()) == std::string_view::npos) {
      return FailInToken("in string escape code");
    }
    if (Peek() != 'u') continue;
    for (int i = 0; i < 4; ++i) {
      ++pos_;
      if (AtEnd() || !IsHex(Peek())) return FailInToken("in \\u hexadecimal character escape");
    }
  }
  return Fail("");
}

bool Scanner::Digits(const char* where) {
  if (AtEnd() || !IsDigit(Peek())) return FailInToken(where);
  while (!AtEnd() && IsDigit(Peek())) ++pos_;
  return true;
}

bool Scanner::Number() {
  if (Peek() == '-') ++pos_;
  if (!AtEnd() && Peek() == '0') {
    ++pos_;
  } else if (!Digits("in numeric literal")) {
    return false;
  }
  if (!AtEnd() && Peek() == '.') {
    ++pos_;
    if (!Digits("after decimal point in numeric literal")) return false;
  }
  if (!AtEnd() && (Peek() == 'e' || Peek() == 'E')) {
    ++pos_;
    if (!AtEnd() && (Peek() == '+' || Peek() == '-')) ++pos_;
    if (!Digits("in exponent of numeric literal")) return false;
  }
  return true;
}

bool Scanner::Literal(std::string_view word) {
  for (const char expected : word) {
    if (AtEnd() || Peek() != expected) {
      return FailInToken("in literal " + std::string(word) + " (expecting '" + expected + "')");
    }
    ++pos_;
  }
  return true;
}

}  // namespace

std::string GoSyntaxError(std::string_view text) { return Scanner(text).Run(); }

}  // namespace terrarium::api
