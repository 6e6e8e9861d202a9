#include "api/selector/internal/label_parser.h"

#include <cstddef>
#include <set>
#include <utility>

#include "api/base/field_error.h"
#include "api/selector/label_syntax.h"

namespace terrarium::api::internal {
namespace {

enum class Token {
  kEnd,
  kWord,
  kOpen,
  kClose,
  kComma,
  kNot,
  kEquals,
  kDoubleEquals,
  kNotEquals,
  kGreater,
  kLess
};

struct Item {
  Token token = Token::kEnd;
  std::string_view text;
};

bool IsSymbol(char c) { return std::string_view("=!(),><").find(c) != std::string_view::npos; }
bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

Token SymbolToken(std::string_view text) {
  if (text == "==") return Token::kDoubleEquals;
  if (text == "!=") return Token::kNotEquals;
  switch (text.front()) {
    case '(': return Token::kOpen;
    case ')': return Token::kClose;
    case ',': return Token::kComma;
    case '!': return Token::kNot;
    case '=': return Token::kEquals;
    case '>': return Token::kGreater;
    default: return Token::kLess;
  }
}

// The tokens of the text, followed by kEnd. `in` and `notin` are words too: only their position makes them
// operators.
std::vector<Item> Scan(std::string_view text) {
  std::vector<Item> out;
  std::size_t at = 0;
  while (at < text.size()) {
    if (IsSpace(text[at])) {
      ++at;
      continue;
    }
    std::size_t length = 1;
    if (IsSymbol(text[at])) {
      if (text.substr(at, 2) == "==" || text.substr(at, 2) == "!=") length = 2;
      out.push_back({SymbolToken(text.substr(at, length)), text.substr(at, length)});
    } else {
      while (at + length < text.size() && !IsSymbol(text[at + length]) && !IsSpace(text[at + length]))
        ++length;
      out.push_back({Token::kWord, text.substr(at, length)});
    }
    at += length;
  }
  out.push_back({});
  return out;
}

std::string Found(std::string_view text, std::string_view expected) {
  return std::string("found '").append(text).append("', expected: ").append(expected);
}

class Parser {
 public:
  explicit Parser(std::string_view text) : items_(Scan(text)) {}

  RequirementsOrError Run() {
    std::vector<LabelRequirement> requirements;
    if (Next().token == Token::kEnd) return {std::move(requirements), {}};
    for (;;) {
      if (!StartsRequirement(Next()))
        return {std::nullopt, Found(Next().text, "!, identifier, or 'end of string'")};
      RequirementOrError one = Requirement();
      if (!one.requirement) return {std::nullopt, "unable to parse requirement: " + one.error};
      requirements.push_back(std::move(*one.requirement));
      Item after = Take();
      if (after.token == Token::kEnd) return {std::move(requirements), {}};
      if (after.token != Token::kComma) return {std::nullopt, Found(after.text, "',' or 'end of string'")};
      if (!StartsRequirement(Next())) return {std::nullopt, Found(Next().text, "identifier after ','")};
    }
  }

 private:
  static bool StartsRequirement(const Item& item) {
    return item.token == Token::kWord || item.token == Token::kNot;
  }

  const Item& Next() const { return items_[at_]; }
  // Never moves past kEnd: at the end, each call returns kEnd.
  Item Take() {
    Item item = items_[at_];
    if (at_ + 1 < items_.size()) ++at_;
    return item;
  }

  static RequirementOrError Failed(std::string error) { return {std::nullopt, std::move(error)}; }

  RequirementOrError Requirement() {
    Item item = Take();
    const bool negated = item.token == Token::kNot;
    if (negated) item = Take();
    if (item.token != Token::kWord) return Failed(Found(item.text, "identifier"));
    std::string key(item.text);
    if (auto wrong = LabelKeyErrors(key); !wrong.empty()) {
      std::string detail = wrong.front();
      for (std::size_t i = 1; i < wrong.size(); ++i) detail.append("; ").append(wrong[i]);
      // Kubernetes has a nil path here, which Go prints as <nil>.
      return Failed("<nil>: " + InvalidError(Path(), key, detail).message);
    }
    if (negated) return MakeRequirement(std::move(key), LabelOperator::kDoesNotExist, {});
    if (Next().token == Token::kEnd || Next().token == Token::kComma)
      return MakeRequirement(std::move(key), LabelOperator::kExists, {});
    return Comparison(std::move(key));
  }

  RequirementOrError Comparison(std::string key) {
    Item item = Take();
    std::optional<LabelOperator> op = Operator(item);
    if (!op) return Failed(Found(item.text, "in, notin, =, ==, !=, gt, lt"));
    std::set<std::string> values;
    std::string error =
        *op == LabelOperator::kIn || *op == LabelOperator::kNotIn ? ValueSet(values) : Value(values);
    if (!error.empty()) return Failed(std::move(error));
    return MakeRequirement(std::move(key), *op, {values.begin(), values.end()});
  }

  static std::optional<LabelOperator> Operator(const Item& item) {
    switch (item.token) {
      case Token::kEquals: return LabelOperator::kEquals;
      case Token::kDoubleEquals: return LabelOperator::kDoubleEquals;
      case Token::kNotEquals: return LabelOperator::kNotEquals;
      case Token::kGreater: return LabelOperator::kGreaterThan;
      case Token::kLess: return LabelOperator::kLessThan;
      default: break;
    }
    if (item.text == "in") return LabelOperator::kIn;
    if (item.text == "notin") return LabelOperator::kNotIn;
    return std::nullopt;
  }

  // Reads one value, or the empty value if the requirement ends right after the operator ("a=,b"). Returns
  // the error, or "" on success.
  std::string Value(std::set<std::string>& values) {
    if (Next().token == Token::kEnd || Next().token == Token::kComma) {
      values.emplace();
      return "";
    }
    Item item = Take();
    if (item.token != Token::kWord) return Found(item.text, "identifier");
    values.emplace(item.text);
    return "";
  }

  // Reads "(a,b)". Nothing between commas or parentheses is the empty value: () and (,) contain only the
  // empty value. Returns the error, or "" on success.
  std::string ValueSet(std::set<std::string>& values) {
    if (Item item = Take(); item.token != Token::kOpen)
      return "found '" + std::string(item.text) + "' expected: '('";
    if (Next().token == Token::kClose) {
      Take();
      values.emplace();
      return "";
    }
    if (Next().token != Token::kWord && Next().token != Token::kComma)
      return Found(Next().text, "',', ')' or identifier");
    for (bool first = true;; first = false) {
      Item item = Take();
      if (item.token == Token::kWord) {
        values.emplace(item.text);
        if (Next().token != Token::kComma && Next().token != Token::kClose)
          return Found(Next().text, "',' or ')'");
      } else if (item.token == Token::kComma) {
        if (first || Next().token == Token::kComma || Next().token == Token::kClose) values.emplace();
      } else {
        return Found(item.text, "',', or identifier");
      }
      if (Next().token == Token::kClose) {
        Take();
        return "";
      }
    }
  }

  std::vector<Item> items_;
  std::size_t at_ = 0;
};

}  // namespace

RequirementsOrError ParseRequirements(std::string_view text) { return Parser(text).Run(); }

}  // namespace terrarium::api::internal
