#include "api/selector/label_selector.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "api/base/errors.h"
#include "api/base/field_error.h"
#include "api/json_access.h"
#include "api/selector/internal/label_parser.h"
#include "api/selector/label_syntax.h"

namespace terrarium::api {
namespace {

// As Go's ParseInt(text, 10, 64): an optional sign, digits, nothing else.
std::optional<std::int64_t> ParseNumber(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  std::int64_t out = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return out;
}

bool TakesNumber(LabelOperator op) {
  return op == LabelOperator::kGreaterThan || op == LabelOperator::kLessThan;
}

std::string Join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) out += separator;
    out += parts[i];
  }
  return out;
}

// Checks how many values an operator takes.
void CheckValueCount(LabelOperator op, const std::vector<std::string>& values, const Path& path,
                     FieldErrors& errors) {
  std::string_view wrong;
  switch (op) {
    case LabelOperator::kIn:
    case LabelOperator::kNotIn:
      if (values.empty()) wrong = "for 'in', 'notin' operators, values set can't be empty";
      break;
    case LabelOperator::kEquals:
    case LabelOperator::kDoubleEquals:
    case LabelOperator::kNotEquals:
      if (values.size() != 1) wrong = "exact-match compatibility requires one single value";
      break;
    case LabelOperator::kExists:
    case LabelOperator::kDoesNotExist:
      if (!values.empty()) wrong = "values set must be empty for exists and does not exist";
      break;
    case LabelOperator::kGreaterThan:
    case LabelOperator::kLessThan:
      if (values.size() != 1) wrong = "for 'Gt', 'Lt' operators, exactly one value is required";
      break;
  }
  // An empty list prints as null, since it is a nil slice in Go.
  if (!wrong.empty()) errors.push_back(InvalidError(path, values.empty() ? Json() : Json(values), wrong));
}

}  // namespace

namespace internal {

RequirementOrError MakeRequirement(std::string key, LabelOperator op, std::vector<std::string> values) {
  FieldErrors errors;
  if (auto wrong = LabelKeyErrors(key); !wrong.empty())
    errors.push_back(InvalidError(Path("key"), key, Join(wrong, "; ")));
  const Path path("values");
  CheckValueCount(op, values, path, errors);
  LabelRequirement out{.key = std::move(key), .op = op, .values = {}, .number = 0};
  if (TakesNumber(op)) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (auto number = ParseNumber(values[i])) {
        out.number = *number;
      } else {
        errors.push_back(
            InvalidError(path.Index(i), values[i], "for 'Gt', 'Lt' operators, the value must be an integer"));
      }
    }
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (auto wrong = LabelValueErrors(values[i]); !wrong.empty())
      errors.push_back(InvalidError(path.Index(i).Key(out.key), values[i], Join(wrong, "; ")));
  }
  if (!errors.empty()) {
    std::vector<std::string> texts;
    for (const FieldError& e : errors) texts.push_back(e.field + ": " + e.message);
    return {std::nullopt, texts.size() == 1 ? texts.front() : "[" + Join(texts, ", ") + "]"};
  }
  out.values = std::move(values);
  std::sort(out.values.begin(), out.values.end());
  return {std::move(out), {}};
}

}  // namespace internal

bool LabelRequirement::Matches(const std::string* value) const {
  auto listed = [&] { return std::binary_search(values.begin(), values.end(), *value); };
  switch (op) {
    case LabelOperator::kEquals:
    case LabelOperator::kDoubleEquals:
    case LabelOperator::kIn: return value != nullptr && listed();
    case LabelOperator::kNotEquals:
    case LabelOperator::kNotIn: return value == nullptr || !listed();
    case LabelOperator::kExists: return value != nullptr;
    case LabelOperator::kDoesNotExist: return value == nullptr;
    case LabelOperator::kGreaterThan:
    case LabelOperator::kLessThan: {
      if (value == nullptr) return false;
      std::optional<std::int64_t> theirs = ParseNumber(*value);
      if (!theirs) return false;
      return op == LabelOperator::kGreaterThan ? *theirs > number : *theirs < number;
    }
  }
  return false;
}

std::string LabelRequirement::String() const {
  switch (op) {
    case LabelOperator::kEquals: return key + "=" + Join(values, ",");
    case LabelOperator::kDoubleEquals: return key + "==" + Join(values, ",");
    case LabelOperator::kNotEquals: return key + "!=" + Join(values, ",");
    case LabelOperator::kIn: return key + " in (" + Join(values, ",") + ")";
    case LabelOperator::kNotIn: return key + " notin (" + Join(values, ",") + ")";
    case LabelOperator::kExists: return key;
    case LabelOperator::kDoesNotExist: return "!" + key;
    case LabelOperator::kGreaterThan: return key + ">" + Join(values, ",");
    case LabelOperator::kLessThan: return key + "<" + Join(values, ",");
  }
  return "";
}

LabelSelector::LabelSelector(std::vector<LabelRequirement> requirements)
    : requirements_(std::move(requirements)) {
  std::stable_sort(requirements_.begin(), requirements_.end(),
                   [](const LabelRequirement& a, const LabelRequirement& b) { return a.key < b.key; });
}

LabelSelector LabelSelector::Nothing() {
  LabelSelector out;
  out.nothing_ = true;
  return out;
}

Result<LabelSelector> LabelSelector::Parse(std::string_view text) {
  internal::RequirementsOrError parsed = internal::ParseRequirements(text);
  if (!parsed.requirements) return BadRequest(parsed.error);
  return LabelSelector(std::move(*parsed.requirements));
}

Result<LabelSelector> LabelSelector::FromDocument(const Json* selector) {
  if (selector == nullptr || selector->is_null()) return Nothing();
  std::vector<LabelRequirement> requirements;
  auto add = [&](std::string key, LabelOperator op,
                 std::vector<std::string> values) -> std::optional<Status> {
    auto made = internal::MakeRequirement(std::move(key), op, std::move(values));
    if (!made.requirement) return BadRequest(made.error);
    requirements.push_back(std::move(*made.requirement));
    return std::nullopt;
  };
  for (const auto& [key, value] : ObjectAt(*selector, "matchLabels").items()) {
    std::string text = value.is_string() ? value.get<std::string>() : std::string();
    if (auto failed = add(key, LabelOperator::kEquals, {std::move(text)})) return *failed;
  }
  for (const Json& expression : ListAt(*selector, "matchExpressions")) {
    std::string_view name = StringAt(expression, "operator");
    LabelOperator op;
    if (name == "In")
      op = LabelOperator::kIn;
    else if (name == "NotIn")
      op = LabelOperator::kNotIn;
    else if (name == "Exists")
      op = LabelOperator::kExists;
    else if (name == "DoesNotExist")
      op = LabelOperator::kDoesNotExist;
    else
      return BadRequest(Quote(name) + " is not a valid label selector operator");
    std::vector<std::string> values;
    for (const Json& value : ListAt(expression, "values"))
      if (value.is_string()) values.push_back(value.get<std::string>());
    if (auto failed = add(std::string(StringAt(expression, "key")), op, std::move(values))) return *failed;
  }
  return LabelSelector(std::move(requirements));
}

LabelSelector LabelSelector::FromMap(const Json& labels) {
  std::vector<LabelRequirement> requirements;
  if (labels.is_object()) {
    for (const auto& [key, value] : labels.items()) {
      std::string text = value.is_string() ? value.get<std::string>() : std::string();
      requirements.push_back(
          {.key = key, .op = LabelOperator::kEquals, .values = {std::move(text)}, .number = 0});
    }
  }
  return LabelSelector(std::move(requirements));
}

bool LabelSelector::Matches(const ObjectHeader& header) const {
  if (nothing_) return false;
  return std::all_of(requirements_.begin(), requirements_.end(),
                     [&](const LabelRequirement& r) { return r.Matches(FindLabel(header, r.key)); });
}

bool LabelSelector::Matches(const Json& labels) const {
  if (nothing_) return false;
  return std::all_of(requirements_.begin(), requirements_.end(), [&](const LabelRequirement& r) {
    const Json* value = Find(labels, r.key);
    return r.Matches(value != nullptr && value->is_string() ? &value->get_ref<const std::string&>()
                                                            : nullptr);
  });
}

std::string LabelSelector::String() const {
  std::vector<std::string> texts;
  texts.reserve(requirements_.size());
  for (const LabelRequirement& r : requirements_) texts.push_back(r.String());
  return Join(texts, ",");
}

}  // namespace terrarium::api
