#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <yaml.h>

#include "api/codec/yaml.h"

namespace terrarium::api {

struct YamlFailure {
  YamlPlace place;
  std::string message;  // without a prefix
  std::string go_text;  // the whole message of go-yaml, or of the Go library above it
};

// A failure that go-yaml reports without a line.
YamlFailure MakeYamlFailure(YamlPlace place, std::string message);

// A node of a document, or the end of a list or a map. The texts live until the next event is read.
struct YamlEvent {
  enum class Kind : std::uint8_t { kScalar, kList, kMap, kEnd, kAlias };
  Kind kind = Kind::kScalar;
  bool is_plain = false;  // of a scalar: no quotes and no tag
  YamlPlace place;
  std::string_view text;    // of a scalar; the name of an alias
  std::string_view tag;     // of a scalar
  std::string_view anchor;  // empty when there is none
};

// Reads a stream event by event with libyaml, the library that go-yaml was ported from. Errors have go-yaml's
// messages and line numbers, which start at 0 for some errors. Work and memory are bounded by the size of the
// text (see the limits in the .cc).
class YamlEvents {
 public:
  // REQUIRES: `text` outlives this.
  explicit YamlEvents(std::string_view text);
  ~YamlEvents();
  YamlEvents(const YamlEvents&) = delete;
  YamlEvents& operator=(const YamlEvents&) = delete;

  enum class Step : std::uint8_t { kDocumentStart, kDocumentEnd, kNode, kStreamEnd, kFailed };
  Step Next();
  const YamlEvent& event() const { return event_; }        // after kNode
  const YamlFailure& failure() const { return failure_; }  // after kFailed

 private:
  static int Read(void* self, unsigned char* buffer, std::size_t size, std::size_t* size_read);
  Step Fail();
  Step FailHere(std::string message);
  bool HasFewTagDirectives() const;
  bool CountFlowWork();
  Step TakeDocumentStart();
  Step TakeNode();

  yaml_parser_t parser_;
  yaml_event_t raw_;
  std::string_view rest_;
  YamlEvent event_;
  YamlFailure failure_;
  std::size_t depth_ = 0;
  std::size_t tokens_seen_ = 0, flow_work_ = 0;
};

}  // namespace terrarium::api
