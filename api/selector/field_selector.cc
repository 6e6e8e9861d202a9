#include "api/selector/field_selector.h"

#include <algorithm>
#include <utility>

#include "api/base/errors.h"
#include "api/selector/internal/field_labels.h"

namespace terrarium::api {
namespace {

// Splits at commas that are not escaped with a backslash. The parts keep their escapes. They are sorted, as
// in Kubernetes, so that the first malformed part in this order is the one that is reported.
std::vector<std::string_view> SplitTerms(std::string_view text) {
  std::vector<std::string_view> out;
  std::size_t start = 0;
  bool escaped = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (escaped) {
      escaped = false;
    } else if (text[i] == '\\') {
      escaped = true;
    } else if (text[i] == ',') {
      out.push_back(text.substr(start, i - start));
      start = i + 1;
    }
  }
  out.push_back(text.substr(start));
  std::sort(out.begin(), out.end());
  std::erase(out, std::string_view());
  return out;
}

struct RawTerm {
  std::string_view label;
  std::string_view value;  // still escaped
  bool negated = false;
};

std::optional<RawTerm> SplitTerm(std::string_view term) {
  for (std::size_t i = 0; i < term.size(); ++i) {
    std::string_view rest = term.substr(i);
    if (rest.starts_with("!=")) return RawTerm{term.substr(0, i), rest.substr(2), true};
    if (rest.starts_with("==")) return RawTerm{term.substr(0, i), rest.substr(2), false};
    if (rest.starts_with('=')) return RawTerm{term.substr(0, i), rest.substr(1), false};
  }
  return std::nullopt;
}

// The bytes of the UTF-8 character that begins at `at`, so that messages never contain an incomplete
// character.
std::string_view CharacterAt(std::string_view text, std::size_t at) {
  std::size_t length = 1;
  while (at + length < text.size() && (static_cast<unsigned char>(text[at + length]) & 0xC0) == 0x80)
    ++length;
  return text.substr(at, length);
}

Result<std::string> Unescape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ',' || text[i] == '=') {
      return BadRequest("invalid field selector: unescaped character in value: " +
                        std::to_string(int{text[i]}));
    }
    if (text[i] == '\\') {
      std::string_view next = i + 1 < text.size() ? CharacterAt(text, i + 1) : std::string_view();
      if (next != "\\" && next != "," && next != "=")
        return BadRequest("invalid field selector: invalid escape sequence: \\" + std::string(next));
      ++i;
    }
    out += text[i];
  }
  return out;
}

std::string Escape(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '\\' || c == ',' || c == '=') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

FieldSelector::Term FieldSelector::Resolve(std::string_view label, std::string_view accepted,
                                           const FieldSelectorScope& scope) {
  Term term;
  term.label = label;
  if (label == "metadata.name") {
    term.source = Source::kName;
  } else if (label == "metadata.namespace") {
    term.source = Source::kNamespace;
  } else if (label == "status.phase") {
    term.source = Source::kPhase;
  } else if (label == "spec.nodeName") {
    term.source = Source::kNodeName;
  } else if (auto it = std::find_if(scope.selectable.begin(), scope.selectable.end(),
                                    [&](std::string_view s) { return s == label || s == accepted; });
             it != scope.selectable.end()) {
    term.source = Source::kField;
    term.index = static_cast<std::size_t>(it - scope.selectable.begin());
  }
  return term;
}

Result<FieldSelector> FieldSelector::Parse(std::string_view text, const FieldSelectorScope& scope) {
  std::vector<RawTerm> raw;
  std::vector<std::string> values;
  for (std::string_view part : SplitTerms(text)) {
    std::optional<RawTerm> term = SplitTerm(part);
    if (!term) {
      return BadRequest("invalid selector: '" + std::string(text) + "'; can't understand '" +
                        std::string(part) + "'");
    }
    Result<std::string> value = Unescape(term->value);
    if (!value) return value.status();
    raw.push_back(*term);
    values.push_back(std::move(*value));
  }
  // Field labels are checked only after the whole text has been parsed: syntax errors take precedence.
  FieldSelector out;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    Result<std::string> stored = internal::ConvertFieldLabel(scope, raw[i].label);
    if (!stored) return stored.status();
    Term term = Resolve(*stored, raw[i].label, scope);
    term.value = std::move(values[i]);
    term.negated = raw[i].negated;
    out.terms_.push_back(std::move(term));
  }
  // Sorted by their own text: "a==c,a=b" and "a=b,a=c" are equal selectors and print the same text.
  std::sort(out.terms_.begin(), out.terms_.end(),
            [](const Term& a, const Term& b) { return TermText(a) < TermText(b); });
  return out;
}

FieldSelector FieldSelector::ForName(std::string_view name) {
  FieldSelector out;
  out.terms_.push_back({.label = "metadata.name", .value = std::string(name), .source = Source::kName});
  return out;
}

bool FieldSelector::Matches(const ObjectHeader& header) const {
  return std::all_of(terms_.begin(), terms_.end(), [&](const Term& term) {
    std::string_view value;
    switch (term.source) {
      case Source::kName: value = header.name; break;
      case Source::kNamespace: value = header.ns; break;
      case Source::kPhase: value = header.phase.text(); break;
      case Source::kNodeName: value = header.node_name; break;
      case Source::kField:
        if (term.index < header.fields.size()) value = header.fields[term.index];
        break;
      case Source::kAlwaysEmpty: break;
    }
    return (value == term.value) != term.negated;
  });
}

std::optional<std::string> FieldSelector::RequiresExactMatch(std::string_view label) const {
  for (const Term& term : terms_)
    if (term.label == label && !term.negated) return term.value;
  return std::nullopt;
}

std::string FieldSelector::TermText(const Term& term) {
  return std::string(term.label).append(term.negated ? "!=" : "=").append(Escape(term.value));
}

std::string FieldSelector::String() const {
  std::string out;
  for (const Term& term : terms_) {
    if (!out.empty()) out += ',';
    out.append(TermText(term));
  }
  return out;
}

}  // namespace terrarium::api
