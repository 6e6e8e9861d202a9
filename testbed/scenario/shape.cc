#include "testbed/scenario/shape.h"

#include <algorithm>

#include "api/base/field_error.h"
#include "api/codec/yaml.h"
#include "testbed/scenario/step.h"

namespace terrarium::testbed::scenario {
namespace {

using api::YamlPathBelow;
using Type = Shape::Type;

// The value for a message: short.
std::string Shown(const Json& value) {
  constexpr std::size_t kLengthMax = 60;
  std::string text = value.is_string() ? api::Quote(value.get_ref<const std::string&>()) : value.dump();
  if (text.size() > kLengthMax) text = text.substr(0, kLengthMax) + "...";
  return text;
}

// How many letters one word is from the other.
std::size_t Distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

bool HasType(Type type, const Json& value) {
  switch (type) {
    case Type::kText: return value.is_string();
    case Type::kBoolean: return value.is_boolean();
    case Type::kInteger: return value.is_number_integer();
    case Type::kNumber: return value.is_number();
    case Type::kObject:
    case Type::kMap:
    case Type::kFields: return value.is_object();
    case Type::kList:
    case Type::kSteps: return value.is_array();
    case Type::kAnything:
    case Type::kEither: break;
  }
  return true;
}

bool InWords(const Shape& shape, const std::string& word) {
  return shape.words.empty() || std::find(shape.words.begin(), shape.words.end(), word) != shape.words.end();
}

void CheckEither(const Shape& shape, const Json& value, const std::string& path, Mistakes& mistakes) {
  // The mistakes of the choice whose type the value has are of more help than a list of all choices.
  for (const Shape* choice : shape.choices)
    if (HasType(choice->type, value)) return CheckShape(*choice, value, path, mistakes);
  mistakes.push_back({path, Shown(value) + " is not " + std::string(shape.is)});
}

}  // namespace

std::string JoinOr(const std::vector<std::string>& words) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i)
    out += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
  return out;
}

std::string DidYouMeanOr(std::string_view word, const std::vector<std::string>& words,
                         const std::string& otherwise) {
  std::string hint = DidYouMean(word, words);
  return hint.empty() ? ": " + otherwise : hint;
}

std::string DidYouMean(std::string_view word, const std::vector<std::string>& words) {
  const std::string* best = nullptr;
  std::size_t least = std::max<std::size_t>(word.size() / 2, 1) + 1;
  for (const std::string& candidate : words) {
    std::size_t distance = Distance(word, candidate);
    if (distance >= least) continue;
    least = distance;
    best = &candidate;
  }
  return best == nullptr ? "" : " (did you mean " + *best + "?)";
}

void CheckMembers(const std::vector<const Members*>& members, const Json& value, const std::string& path,
                  std::string_view what, Mistakes& mistakes) {
  std::vector<std::string> known;
  for (const Members* some : members)
    for (const Member& member : *some) {
      known.emplace_back(member.name);
      if (member.required && !value.contains(std::string(member.name)))
        mistakes.push_back({path, std::string(what) + " needs " + std::string(member.name) + ": " +
                                      std::string(member.about)});
    }
  for (const auto& [key, below] : value.items()) {
    const Member* found = nullptr;
    for (const Members* some : members)
      for (const Member& member : *some)
        if (member.name == key) found = &member;
    const std::string its_path = YamlPathBelow(path, key);
    if (found != nullptr)
      CheckShape(found->shape, below, its_path, mistakes);
    else
      mistakes.push_back({its_path + "#", "unknown key " + api::Quote(key) + " in " + std::string(what) +
                                              DidYouMeanOr(key, known, "it has " + JoinOr(known))});
  }
}

void CheckShape(const Shape& shape, const Json& value, const std::string& path, Mistakes& mistakes) {
  if (shape.type == Type::kEither) return CheckEither(shape, value, path, mistakes);
  auto wrong = [&](const std::string& message) { mistakes.push_back({path, message}); };
  if (!HasType(shape.type, value)) return wrong(Shown(value) + " is not " + std::string(shape.is));
  if (shape.type == Type::kText && !InWords(shape, value.get_ref<const std::string&>()))
    return wrong(
        Shown(value) + " is not " + std::string(shape.is) +
        DidYouMeanOr(value.get_ref<const std::string&>(), shape.words, "write " + JoinOr(shape.words)));
  if (shape.type == Type::kInteger && value.is_number_integer() && value.get<std::int64_t>() < shape.least)
    return wrong(Shown(value) + " is not " + std::string(shape.is));
  if (shape.type == Type::kList && static_cast<std::int64_t>(value.size()) < shape.least)
    return wrong("the list is empty: it is " + std::string(shape.is));
  if (shape.wrong != nullptr)
    if (std::string message = shape.wrong(value); !message.empty()) return wrong(message);

  if (shape.type == Type::kFields) return CheckMembers({&shape.members}, value, path, shape.is, mistakes);
  if (shape.type == Type::kSteps) return CheckSteps(value, path, mistakes);
  if (shape.type == Type::kMap)
    for (const auto& [key, below] : value.items()) {
      const std::string its_path = YamlPathBelow(path, key);
      if (InWords(shape, key))
        CheckShape(*shape.of, below, its_path, mistakes);
      else
        mistakes.push_back(
            {its_path + "#", "unknown " + std::string(shape.is) + " " + api::Quote(key) +
                                 DidYouMeanOr(key, shape.words, "there are " + JoinOr(shape.words))});
    }
  if (shape.type == Type::kList)
    for (std::size_t i = 0; i < value.size(); ++i)
      CheckShape(*shape.of, value[i], YamlPathBelow(path, std::to_string(i)), mistakes);
}

}  // namespace terrarium::testbed::scenario
