#include "api/codec/internal/yaml_events.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "api/codec/decode.h"

namespace terrarium::api {
namespace {

// For each token libyaml walks through all flow collections that are open, some 2 ns for each of them. A body
// of 3 MiB has at most 3 million tokens, so this allows the densest one to be 12 levels deep and an ordinary
// one, in which a token has 8 bytes, to be 100.
constexpr std::size_t kFlowWorkMax = 40'000'000;
// For each tag libyaml walks through the %TAG directives and copies the prefix.
constexpr std::ptrdiff_t kTagDirectivesMax = 64;
constexpr std::size_t kTagPrefixBytesMax = 256;
constexpr char kTooManyTags[] = "too many or too long %TAG directives";

YamlPlace PlaceOf(const yaml_mark_t& mark) {
  return {static_cast<int>(mark.line) + 1, static_cast<int>(mark.column) + 1};
}

std::string_view View(const yaml_char_t* text) {
  return text == nullptr ? std::string_view() : std::string_view(reinterpret_cast<const char*>(text));
}

std::string WithLine(std::size_t line, const std::string& message) {
  return "yaml: " + (line == 0 ? "" : "line " + std::to_string(line) + ": ") + message;
}

}  // namespace

YamlFailure MakeYamlFailure(YamlPlace place, std::string message) {
  std::string go_text = "yaml: " + message;
  return {place, std::move(message), std::move(go_text)};
}

YamlEvents::YamlEvents(std::string_view text) : rest_(text) {
  if (yaml_parser_initialize(&parser_) == 0) throw std::bad_alloc();
  std::memset(&raw_, 0, sizeof raw_);
  yaml_parser_set_input(&parser_, &YamlEvents::Read, this);
}

YamlEvents::~YamlEvents() {
  yaml_event_delete(&raw_);
  yaml_parser_delete(&parser_);
}

int YamlEvents::Read(void* self, unsigned char* buffer, std::size_t size, std::size_t* size_read) {
  auto& events = *static_cast<YamlEvents*>(self);
  // One call of libyaml reads all directives, and compares each with those before it.
  if (!events.HasFewTagDirectives()) return 0;
  *size_read = std::min(size, events.rest_.size());
  if (*size_read > 0) std::memcpy(buffer, events.rest_.data(), *size_read);
  events.rest_.remove_prefix(*size_read);
  return 1;
}

bool YamlEvents::HasFewTagDirectives() const {
  return parser_.tag_directives.top - parser_.tag_directives.start <= kTagDirectivesMax;
}

YamlEvents::Step YamlEvents::Next() {
  yaml_event_delete(&raw_);
  if (yaml_parser_parse(&parser_, &raw_) == 0) return Fail();
  if (!CountFlowWork()) return FailHere("flow collections are nested too deeply");
  switch (raw_.type) {
    case YAML_STREAM_START_EVENT: return Next();
    case YAML_DOCUMENT_START_EVENT: return TakeDocumentStart();
    case YAML_DOCUMENT_END_EVENT: return Step::kDocumentEnd;
    case YAML_STREAM_END_EVENT:
    case YAML_NO_EVENT: return Step::kStreamEnd;
    default: return TakeNode();
  }
}

YamlEvents::Step YamlEvents::TakeDocumentStart() {
  const auto& start = raw_.data.document_start;
  if (start.version_directive != nullptr && start.version_directive->minor != 1) {
    // libyaml reads version 1.2 and go-yaml does not.
    failure_ = {PlaceOf(raw_.start_mark), "found incompatible YAML document", {}};
    failure_.go_text = WithLine(raw_.start_mark.line, failure_.message);
    return Step::kFailed;
  }
  bool few = HasFewTagDirectives();
  const auto& tags = start.tag_directives;
  for (const yaml_tag_directive_t* tag = tags.start; tag != tags.end; ++tag)
    few = few && View(tag->prefix).size() <= kTagPrefixBytesMax;
  return few ? Step::kDocumentStart : FailHere(kTooManyTags);
}

YamlEvents::Step YamlEvents::TakeNode() {
  event_ = {};
  event_.place = PlaceOf(raw_.start_mark);
  switch (raw_.type) {
    case YAML_ALIAS_EVENT:
      event_.kind = YamlEvent::Kind::kAlias;
      event_.text = View(raw_.data.alias.anchor);
      break;
    case YAML_SCALAR_EVENT: {
      const auto& scalar = raw_.data.scalar;
      event_.is_plain = scalar.plain_implicit != 0;
      event_.text = {reinterpret_cast<const char*>(scalar.value), scalar.length};
      event_.tag = View(scalar.tag);
      event_.anchor = View(scalar.anchor);
      break;
    }
    case YAML_SEQUENCE_START_EVENT:
      event_.kind = YamlEvent::Kind::kList;
      event_.anchor = View(raw_.data.sequence_start.anchor);
      ++depth_;
      break;
    case YAML_MAPPING_START_EVENT:
      event_.kind = YamlEvent::Kind::kMap;
      event_.anchor = View(raw_.data.mapping_start.anchor);
      ++depth_;
      break;
    default: event_.kind = YamlEvent::Kind::kEnd; --depth_;
  }
  return depth_ <= kMaxJsonDepth ? Step::kNode
                                 : FailHere("exceeded max depth of " + std::to_string(kMaxJsonDepth));
}

bool YamlEvents::CountFlowWork() {
  const std::size_t tokens = parser_.tokens_parsed - std::exchange(tokens_seen_, parser_.tokens_parsed);
  flow_work_ += tokens * static_cast<std::size_t>(parser_.flow_level);
  return flow_work_ <= kFlowWorkMax;
}

// The line is go-yaml's: that of the problem, or else that of its context, each counted from 0 except by the
// scanner; none for the first line.
YamlEvents::Step YamlEvents::Fail() {
  if (!HasFewTagDirectives()) return FailHere(kTooManyTags);
  std::size_t line = parser_.problem_mark.line;
  if (line != 0 && parser_.error == YAML_SCANNER_ERROR) ++line;
  if (line == 0) line = parser_.context_mark.line;
  const std::string message =
      parser_.problem == nullptr ? "unknown problem parsing YAML content" : parser_.problem;
  // A mistake in the encoding has no mark.
  const bool has_mark = parser_.error == YAML_SCANNER_ERROR || parser_.error == YAML_PARSER_ERROR;
  failure_ = {PlaceOf(has_mark ? parser_.problem_mark : parser_.mark), message, WithLine(line, message)};
  return Step::kFailed;
}

// As the scanner does it.
YamlEvents::Step YamlEvents::FailHere(std::string message) {
  const std::size_t line = parser_.mark.line;
  std::string go_text = WithLine(line == 0 ? 0 : line + 1, message);
  failure_ = {PlaceOf(parser_.mark), std::move(message), std::move(go_text)};
  return Step::kFailed;
}

}  // namespace terrarium::api
