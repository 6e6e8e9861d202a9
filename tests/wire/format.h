#pragma once

// Reads .wire files (docs/wire-cases.md) into conversations. Texts are kept as written: names are filled in
// and YAML is read when a step is played.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace terrarium::wire {

// A line '@name rest' of a step.
struct Directive {
  std::string name;
  std::string rest;
};

struct Header {
  std::string name;
  std::string value;
};

// One request with its expected response, a read of events, or an action of the runner.
struct Step {
  int line = 0;
  std::string verb;    // a method, EVENTS, ADVANCE, GATES or COMPACT
  std::string target;  // the path with its query; the stream's name; the seconds; the gates
  std::vector<Header> headers;
  std::vector<Directive> directives;  // of the request, in order
  std::string body;
  int code = 0;
  std::string reason;
  std::string expect;  // YAML that the response must contain
  std::vector<Header> answer_headers;
  std::vector<Directive> checks;      // of the response, in order
  std::vector<std::string> text;      // the lines of a text response
  std::vector<std::string> contains;  // parts of a text response

  // The text after '@name' in the request, or nullptr.
  const std::string* Find(std::string_view name) const;
};

struct Conversation {
  std::string title;
  int line = 0;
  std::vector<std::string> only;  // runners and servers that play it; empty: all
  std::vector<Step> steps;
};

struct File {
  std::string name;
  std::string gates;
  std::map<std::string, std::string> objects;  // YAML by the name after '@object'
  std::vector<Conversation> conversations;
};

// nullopt for a malformed text; *error is then "name:line: the error".
std::optional<File> Parse(const std::string& name, std::string_view text, std::string* error);

}  // namespace terrarium::wire
