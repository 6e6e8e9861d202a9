#include "tests/wire/match.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>

namespace terrarium::wire {
namespace {

constexpr std::size_t kShownMax = 2000;

bool IsDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// In a shape, 'x' stands for a lower-case hexadecimal digit, 'd' for a decimal one, 's' for a letter of
// generated names.
bool HasShape(std::string_view shape, std::string_view text) {
  if (shape.size() != text.size()) return false;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    char c = text[i];
    bool fits = shape[i] == 'x'   ? IsDigit(c) || (c >= 'a' && c <= 'f')
                : shape[i] == 'd' ? IsDigit(c)
                : shape[i] == 's'
                    ? std::string_view("bcdfghjklmnpqrstvwxz2456789").find(c) != std::string_view::npos
                    : c == shape[i];
    if (!fits) return false;
  }
  return true;
}

bool IsRevision(std::string_view text) {
  return !text.empty() && text[0] != '0' && std::all_of(text.begin(), text.end(), IsDigit);
}

bool IsAge(std::string_view text) {
  if (text == "<invalid>") return true;
  if (text.empty() || !IsDigit(text[0])) return false;
  return std::all_of(text.begin(), text.end(), [](char c) { return IsDigit(c) || (c >= 'a' && c <= 'z'); });
}

struct Word {
  std::string_view name;
  bool (*fits)(std::string_view text);
};

constexpr std::array<Word, 7> kWords = {{
    {"<any>", [](std::string_view) { return true; }},
    {"<uid>", [](std::string_view t) { return HasShape("xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx", t); }},
    {"<time>", [](std::string_view t) { return HasShape("dddd-dd-ddTdd:dd:ddZ", t); }},
    {"<microtime>", [](std::string_view t) { return HasShape("dddd-dd-ddTdd:dd:dd.ddddddZ", t); }},
    {"<rv>", IsRevision},
    {"<suffix>", [](std::string_view t) { return HasShape("sssss", t); }},
    {"<age>", IsAge},
}};

bool InExact(const std::string& path, const std::vector<std::string>& exact) {
  return std::any_of(exact.begin(), exact.end(), [&](const std::string& top) {
    return path == top || path.starts_with(top + ".") || path.starts_with(top + "[");
  });
}

std::string JoinPath(const std::string& path, const std::string& key) {
  if (key.find_first_of(".[]") != std::string::npos) return path + "[\"" + key + "\"]";
  return path.empty() ? key : path + "." + key;
}

class Comparison {
 public:
  explicit Comparison(const std::vector<std::string>& exact) : exact_(exact) {}

  std::vector<std::string> found;

  void Compare(const Json& want, const Json& got, const std::string& path) {
    if (want == "<any>") return;
    if (want.is_object() && got.is_object()) return CompareObjects(want, got, path);
    if (want.is_array() && got.is_array()) return CompareLists(want, got, path);
    bool same = want.is_string() && got.is_string()
                    ? TextMatches(want.get_ref<const std::string&>(), got.get_ref<const std::string&>())
                    : want == got && want.is_number_float() == got.is_number_float();
    if (!same) Add(path.empty() ? "the answer" : path, Show(want), Show(got));
  }

 private:
  void Add(const std::string& path, const std::string& want, const std::string& got) {
    found.push_back(path + ": expected " + want + ", got " + got);
  }

  void CompareObjects(const Json& want, const Json& got, const std::string& path) {
    for (const auto& [key, value] : want.items()) {
      auto it = got.find(key);
      if (it == got.end())
        Add(JoinPath(path, key), Show(value), "nothing");
      else
        Compare(value, *it, JoinPath(path, key));
    }
    if (!InExact(path, exact_)) return;
    for (const auto& [key, value] : got.items())
      if (!want.contains(key) && key != "managedFields") Add(JoinPath(path, key), "nothing", Show(value));
  }

  void CompareLists(const Json& want, const Json& got, const std::string& path) {
    if (want.size() != got.size())
      return Add(path.empty() ? "the answer" : path, std::to_string(want.size()) + " items",
                 std::to_string(got.size()) + ": " + Show(got));
    for (std::size_t i = 0; i < want.size(); ++i)
      Compare(want[i], got[i], path + "[" + std::to_string(i) + "]");
  }

  const std::vector<std::string>& exact_;
};

// The value one step below `at`. It is created if it is missing; nullptr if it cannot exist.
Json* Descend(Json& at, const PathStep& step) {
  if (const auto* index = std::get_if<std::size_t>(&step)) {
    if (at.is_null()) at = Json::array();
    if (!at.is_array() || *index > at.size()) return nullptr;
    if (*index == at.size()) at.push_back(nullptr);
    return &at[*index];
  }
  if (at.is_null()) at = Json::object();
  if (!at.is_object()) return nullptr;
  return &at[std::get<std::string>(step)];
}

struct CauseReason {
  std::string_view start;
  std::string_view reason;
};

constexpr std::array<CauseReason, 8> kCauseReasons = {{
    {"Required value", "FieldValueRequired"},
    {"Invalid value", "FieldValueInvalid"},
    {"Unsupported value", "FieldValueNotSupported"},
    {"Not found", "FieldValueNotFound"},
    {"Duplicate value", "FieldValueDuplicate"},
    {"Forbidden", "FieldValueForbidden"},
    {"Too long", "FieldValueTooLong"},
    {"Too many", "FieldValueTooMany"},
}};

std::optional<Json> ReadCause(const std::string& cause) {
  std::size_t colon = cause.find(": ");
  if (colon == std::string::npos) return std::nullopt;
  std::string message = cause.substr(colon + 2);
  for (const CauseReason& known : kCauseReasons)
    if (message.starts_with(known.start))
      return Json{{"reason", known.reason}, {"message", message}, {"field", cause.substr(0, colon)}};
  return std::nullopt;
}

// Repeated causes are named once in the message.
std::string CausesAsText(const std::vector<std::string>& causes) {
  std::vector<std::string> unique;
  for (const std::string& cause : causes)
    if (std::find(unique.begin(), unique.end(), cause) == unique.end()) unique.push_back(cause);
  if (unique.size() == 1) return unique[0];
  std::string text;
  for (const std::string& cause : unique) text += (text.empty() ? "" : ", ") + cause;
  return "[" + text + "]";
}

}  // namespace

bool TextMatches(std::string_view pattern, std::string_view text) {
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '<') {
      auto word = std::find_if(kWords.begin(), kWords.end(),
                               [&](const Word& w) { return pattern.substr(i).starts_with(w.name); });
      if (word != kWords.end()) {
        std::string_view after = pattern.substr(i + word->name.size()), rest = text.substr(i);
        for (std::size_t length = 0; length <= rest.size(); ++length)
          if (word->fits(rest.substr(0, length)) && TextMatches(after, rest.substr(length))) return true;
        return false;
      }
    }
    if (i >= text.size() || text[i] != pattern[i]) return false;
  }
  return pattern.size() == text.size();
}

std::vector<std::string> Differences(const Json& want, const Json& got,
                                     const std::vector<std::string>& exact) {
  Comparison comparison(exact);
  comparison.Compare(want, got, "");
  return std::move(comparison.found);
}

std::optional<std::vector<PathStep>> SplitPath(std::string_view path) {
  std::vector<PathStep> steps;
  while (!path.empty()) {
    if (path.starts_with("[\"")) {
      std::size_t end = path.find("\"]", 2);
      if (end == std::string_view::npos) return std::nullopt;
      steps.emplace_back(std::string(path.substr(2, end - 2)));
      path.remove_prefix(end + 2);
    } else if (path.front() == '[') {
      std::size_t end = path.find(']');
      std::string_view digits = path.substr(1, end == std::string_view::npos ? 0 : end - 1);
      if (digits.empty() || !std::all_of(digits.begin(), digits.end(), IsDigit)) return std::nullopt;
      steps.emplace_back(static_cast<std::size_t>(std::stoul(std::string(digits))));
      path.remove_prefix(end + 1);
    } else {
      if (path.front() == '.') path.remove_prefix(1);
      std::size_t end = path.find_first_of(".[]");
      if (end == 0 || path.empty()) return std::nullopt;
      steps.emplace_back(std::string(path.substr(0, end)));
      path.remove_prefix(end == std::string_view::npos ? path.size() : end);
    }
  }
  return steps;
}

const Json* FindAt(const Json& document, std::string_view path) {
  auto steps = SplitPath(path);
  if (!steps) return nullptr;
  const Json* at = &document;
  for (const PathStep& step : *steps) {
    if (const auto* index = std::get_if<std::size_t>(&step)) {
      if (!at->is_array() || *index >= at->size()) return nullptr;
      at = &(*at)[*index];
    } else {
      const auto& key = std::get<std::string>(step);
      if (!at->is_object() || !at->contains(key)) return nullptr;
      at = &(*at)[key];
    }
  }
  return at;
}

bool SetAt(Json& document, std::string_view path, Json value) {
  auto steps = SplitPath(path);
  if (!steps || steps->empty()) return false;
  Json* at = &document;
  for (const PathStep& step : *steps) {
    at = Descend(*at, step);
    if (at == nullptr) return false;
  }
  *at = std::move(value);
  return true;
}

bool UnsetAt(Json& document, std::string_view path) {
  auto steps = SplitPath(path);
  if (!steps || steps->empty() || FindAt(document, path) == nullptr) return false;
  Json* at = &document;
  for (std::size_t i = 0; i + 1 < steps->size(); ++i) at = Descend(*at, (*steps)[i]);
  if (const auto* index = std::get_if<std::size_t>(&steps->back()))
    at->erase(*index);
  else
    at->erase(std::get<std::string>(steps->back()));
  return true;
}

Json Merge(Json base, const Json& patch) {
  base.merge_patch(patch);
  return base;
}

std::optional<Json> InvalidStatus(const std::string& subject, const std::vector<std::string>& causes,
                                  std::string* error) {
  std::size_t quote = subject.find(" \"");
  if (quote == std::string::npos || subject.back() != '"' || subject.size() < quote + 3) {
    *error = "@invalid takes a kind and a name, such as Deployment.apps \"web\", not " + subject;
    return std::nullopt;
  }
  std::string kind = subject.substr(0, quote), name = subject.substr(quote + 2, subject.size() - quote - 3);
  Json details = {{"causes", Json::array()}};
  std::size_t dot = kind.find('.');
  details["kind"] = kind.substr(0, dot);
  if (dot != std::string::npos) details["group"] = kind.substr(dot + 1);
  if (!name.empty()) details["name"] = name;
  for (const std::string& cause : causes) {
    auto read = ReadCause(cause);
    if (!read) {
      *error = "@cause takes 'field: Invalid value: ...' and the like, not " + cause;
      return std::nullopt;
    }
    details["causes"].push_back(std::move(*read));
  }
  return Json{{"reason", "Invalid"},
              {"message", subject + " is invalid: " + CausesAsText(causes)},
              {"details", std::move(details)}};
}

std::string Show(const Json& value) {
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  return text.size() <= kShownMax ? text : text.substr(0, kShownMax) + "...";
}

}  // namespace terrarium::wire
