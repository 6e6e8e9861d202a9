#include "tests/wire/format.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <stdexcept>

namespace terrarium::wire {
namespace {

constexpr std::array<std::string_view, 7> kMethods = {"GET",   "HEAD",   "POST",   "PUT",
                                                      "PATCH", "DELETE", "OPTIONS"};
constexpr std::array<std::string_view, 3> kOnly = {"handler", "http", "terrarium"};
constexpr std::array<std::string_view, 5> kRequestDirectives = {"like", "set", "unset", "raw", "stream"};
constexpr std::array<std::string_view, 9> kAnswerDirectives = {
    "save", "absent", "exact", "contains", "message", "invalid", "cause", "warning", "end"};

struct FormatError : std::runtime_error {
  using runtime_error::runtime_error;
};

template <typename List>
bool IsOneOf(std::string_view word, const List& list) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  return text;
}

bool AllDigits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
}

std::vector<std::string> SplitLines(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  std::vector<std::string> lines;
  while (true) {
    std::size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return lines;
    text.remove_prefix(end + 1);
  }
}

std::string Join(const std::vector<std::string>& lines, std::size_t first = 0) {
  std::string text;
  for (std::size_t i = first; i < lines.size(); ++i) {
    if (i > first) text += '\n';
    text += lines[i];
  }
  return text;
}

// The verb and target of the first line of a step.
std::optional<std::pair<std::string, std::string>> ReadStepLine(std::string_view line) {
  if (line == "COMPACT") return std::pair("COMPACT", "");
  std::size_t space = line.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  std::string_view verb = line.substr(0, space), rest = line.substr(space + 1);
  if (rest.empty() || rest.find(' ') != std::string_view::npos) return std::nullopt;
  const bool is_target = rest.front() == '/' || rest.front() == '{';
  if (IsOneOf(verb, kMethods) && is_target) return std::pair(std::string(verb), std::string(rest));
  if (verb == "EVENTS" || verb == "GATES") return std::pair(std::string(verb), std::string(rest));
  if (verb == "ADVANCE" && rest.back() == 's' && AllDigits(rest.substr(0, rest.size() - 1)))
    return std::pair(std::string(verb), std::string(rest.substr(0, rest.size() - 1)));
  return std::nullopt;
}

struct AnswerLine {
  int code = 0;
  std::string reason;
};

// '---', '--- 404' or '--- 404 NotFound'.
std::optional<AnswerLine> ReadAnswerLine(std::string_view line) {
  if (line == "---") return AnswerLine{};
  if (!line.starts_with("--- ")) return std::nullopt;
  std::string_view rest = line.substr(4), code = rest.substr(0, 3), reason;
  if (code.size() != 3 || !AllDigits(code)) return std::nullopt;
  if (rest.size() > 3) {
    if (rest[3] != ' ') return std::nullopt;
    reason = rest.substr(4);
    if (!std::all_of(reason.begin(), reason.end(), [](unsigned char c) { return std::isalnum(c); }))
      return std::nullopt;
  }
  return AnswerLine{std::stoi(std::string(code)), std::string(reason)};
}

std::optional<Header> ReadHeader(std::string_view line) {
  std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  std::string_view name = line.substr(0, colon);
  if (!std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalpha(c) || c == '-'; }))
    return std::nullopt;
  return Header{std::string(name), std::string(Trim(line.substr(colon + 1)))};
}

template <typename Known>
Directive ReadDirective(std::string_view line, const Known& known) {
  std::size_t space = line.find(' ');
  std::string name(line.substr(1, space == std::string_view::npos ? space : space - 1));
  if (!IsOneOf(name, known)) throw FormatError("unknown directive @" + name);
  std::string_view rest = space == std::string_view::npos ? std::string_view{} : line.substr(space + 1);
  while (!rest.empty() && rest.back() == ' ') rest.remove_suffix(1);
  return {std::move(name), std::string(rest)};
}

class Parser {
 public:
  Parser(const std::string& name, std::string_view text) : lines_(SplitLines(text)) { file_.name = name; }

  std::optional<File> Run(std::string* error) {
    try {
      while (More()) ParseTop();
      return std::move(file_);
    } catch (const FormatError& e) {
      *error = file_.name + ":" + std::to_string(std::min(at_ + 1, lines_.size())) + ": " + e.what();
      return std::nullopt;
    }
  }

 private:
  bool More() const { return at_ < lines_.size(); }
  const std::string& Line() const { return lines_[at_]; }
  bool AtBlankOrComment() const { return Trim(Line()).empty() || Line().starts_with('#'); }

  template <typename Stop>
  std::vector<std::string> TakeUntil(Stop stop) {
    std::vector<std::string> taken;
    for (; More() && !stop(Line()); ++at_) taken.push_back(Line());
    return taken;
  }

  void ParseTop() {
    if (Line().starts_with("== ")) return ParseConversation();
    if (Line().starts_with("@object ")) {
      std::string name(Trim(std::string_view(Line()).substr(8)));
      ++at_;
      file_.objects[name] = Join(TakeUntil(
          [](const std::string& line) { return line.starts_with("== ") || line.starts_with("@object "); }));
      return;
    }
    if (Line().starts_with("gates: "))
      file_.gates = Trim(std::string_view(Line()).substr(7));
    else if (!AtBlankOrComment())
      throw FormatError("expected a conversation ('== title'), not '" + Line() + "'");
    ++at_;
  }

  void ParseConversation() {
    Conversation& talk = file_.conversations.emplace_back();
    talk.title = Trim(std::string_view(Line()).substr(3));
    talk.line = static_cast<int>(at_) + 1;
    ++at_;
    while (More() && !Line().starts_with("== ")) {
      if (ReadStepLine(Line())) {
        talk.steps.push_back(ParseStep());
        continue;
      }
      if (Line().starts_with("only: "))
        talk.only = ParseOnly(std::string_view(Line()).substr(6));
      else if (!AtBlankOrComment())
        throw FormatError("expected a request such as 'GET /path', not '" + Line() + "'");
      ++at_;
    }
  }

  static std::vector<std::string> ParseOnly(std::string_view rest) {
    std::vector<std::string> words;
    while (true) {
      std::size_t comma = rest.find(',');
      words.emplace_back(Trim(rest.substr(0, comma)));
      if (!IsOneOf(words.back(), kOnly)) throw FormatError("only: takes handler, http, terrarium");
      if (comma == std::string_view::npos) return words;
      rest.remove_prefix(comma + 1);
    }
  }

  Step ParseStep() {
    Step step;
    step.line = static_cast<int>(at_) + 1;
    std::tie(step.verb, step.target) = *ReadStepLine(Line());
    ++at_;
    if (step.verb == "ADVANCE" || step.verb == "COMPACT" || step.verb == "GATES") return step;
    ParseRequestHead(step);
    std::vector<std::string> body =
        TakeUntil([](const std::string& line) { return ReadAnswerLine(line).has_value(); });
    while (!body.empty() && body.back().empty()) body.pop_back();
    step.body = Join(body, 1);
    if (!More()) throw FormatError("the step has no '---' with its answer");
    AnswerLine answer = *ReadAnswerLine(Line());
    if ((answer.code == 0) != (step.verb == "EVENTS"))
      throw FormatError("'---' takes a status code, except after EVENTS");
    step.code = answer.code;
    step.reason = answer.reason;
    ++at_;
    ParseAnswer(step);
    return step;
  }

  void ParseRequestHead(Step& step) {
    for (; More() && !Trim(Line()).empty() && !ReadAnswerLine(Line()); ++at_) {
      if (Line().starts_with('@'))
        step.directives.push_back(ReadDirective(Line(), kRequestDirectives));
      else if (auto header = ReadHeader(Line()))
        step.headers.push_back(std::move(*header));
      else
        throw FormatError("expected a header, a directive, an empty line or '---', not '" + Line() + "'");
    }
  }

  void ParseAnswer(Step& step) {
    std::vector<std::string> yaml;
    for (; More() && !Line().starts_with("== ") && !ReadStepLine(Line()); ++at_) {
      const std::string& line = Line();
      if (line.starts_with('@')) {
        step.checks.push_back(ReadDirective(line, kAnswerDirectives));
      } else if (line.starts_with("< ")) {
        auto header = ReadHeader(std::string_view(line).substr(2));
        if (!header) throw FormatError("expected '< Header: value', not '" + line + "'");
        step.answer_headers.push_back(std::move(*header));
      } else if (line == "|" || line.starts_with("| ")) {
        step.text.push_back(line.size() > 2 ? line.substr(2) : "");
      } else if (line.starts_with("~ ")) {
        step.contains.push_back(line.substr(2));
      } else if (!AtBlankOrComment()) {
        yaml.push_back(line);
      }
    }
    step.expect = Join(yaml);
  }

  std::vector<std::string> lines_;
  std::size_t at_ = 0;
  File file_;
};

}  // namespace

const std::string* Step::Find(std::string_view name) const {
  for (const Directive& directive : directives)
    if (directive.name == name) return &directive.rest;
  return nullptr;
}

std::optional<File> Parse(const std::string& name, std::string_view text, std::string* error) {
  return Parser(name, text).Run(error);
}

}  // namespace terrarium::wire
