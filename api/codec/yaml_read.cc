#include <utility>

#include "api/codec/internal/yaml_builder.h"
#include "api/codec/internal/yaml_events.h"
#include "api/codec/yaml.h"

namespace terrarium::api {
namespace {

// How much of a text to read.
struct Wanted {
  std::size_t documents = static_cast<std::size_t>(-1);  // at most
  bool empty_ones = false;
  bool places = false;
};

// Reads one document behind its start. Returns false and sets *failure when something is wrong with it.
bool ReadDocument(YamlEvents& events, bool has_aliases, bool wants_places, PlacedYaml* read,
                  YamlFailure* failure) {
  YamlBuilder builder({.places = wants_places ? &read->places : nullptr, .has_aliases = has_aliases});
  read->document.line = 0;
  for (;;) {
    const YamlEvents::Step step = events.Next();
    if (step == YamlEvents::Step::kFailed) {
      *failure = events.failure();
      return false;
    }
    if (step != YamlEvents::Step::kNode) break;
    if (read->document.line == 0) read->document.line = events.event().place.line;
    if (!builder.Add(events.event())) break;
  }
  if (const YamlFailure* found = builder.failure()) {
    *failure = *found;
    return false;
  }
  read->document.value = builder.TakeValue();
  read->document.strict_errors = builder.TakeStrictErrors();
  return true;
}

std::optional<std::vector<PlacedYaml>> Read(std::string_view text, const Wanted& wanted,
                                            YamlFailure* failure) {
  const bool has_aliases = text.find('*') != std::string_view::npos;
  std::vector<PlacedYaml> documents;
  YamlEvents events(text);
  while (documents.size() < wanted.documents) {
    const YamlEvents::Step step = events.Next();
    if (step == YamlEvents::Step::kStreamEnd) break;
    if (step == YamlEvents::Step::kFailed) {
      *failure = events.failure();
      return std::nullopt;
    }
    PlacedYaml read;
    if (!ReadDocument(events, has_aliases, wanted.places, &read, failure)) return std::nullopt;
    if (!read.document.value.is_null() || wanted.empty_ones) documents.push_back(std::move(read));
  }
  return documents;
}

}  // namespace

std::optional<YamlDocument> ParseYaml(std::string_view text, std::string* error) {
  YamlFailure failure;
  auto documents = Read(text, {.documents = 1, .empty_ones = true}, &failure);
  if (!documents) *error = std::move(failure.go_text);
  if (!documents) return std::nullopt;
  return documents->empty() ? YamlDocument{} : std::move(documents->front().document);
}

std::optional<std::vector<YamlDocument>> ParseYamlStream(std::string_view text, std::string* error) {
  YamlFailure failure;
  auto documents = Read(text, {}, &failure);
  if (!documents) *error = std::move(failure.go_text);
  if (!documents) return std::nullopt;
  std::vector<YamlDocument> out;
  for (PlacedYaml& read : *documents) out.push_back(std::move(read.document));
  return out;
}

std::optional<std::vector<PlacedYaml>> ParsePlacedYaml(std::string_view text, YamlMistake* mistake) {
  YamlFailure failure;
  auto documents = Read(text, {.places = true}, &failure);
  if (!documents) *mistake = {failure.place, std::move(failure.message)};
  return documents;
}

std::string YamlPathBelow(const std::string& path, std::string_view key) {
  std::string out = path + "/";
  for (char c : key) {
    if (c == '~')
      out += "~0";
    else if (c == '/')
      out += "~1";
    else
      out += c;
  }
  return out;
}

}  // namespace terrarium::api
