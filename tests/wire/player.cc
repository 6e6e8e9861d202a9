#include "tests/wire/player.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <spdlog/sinks/null_sink.h>
#include <spdlog/spdlog.h>

#include "api/base/env.h"
#include "api/base/feature_gates.h"
#include "api/base/prng.h"
#include "api/codec/yaml.h"
#include "apiserver/handler.h"
#include "storage/memory_store.h"
#include "tests/wire/http_request.h"
#include "tests/wire/manual_runtime.h"
#include "tests/wire/match.h"
#include "tests/wire/substitution.h"

namespace terrarium::wire {
namespace {

using apiserver::Response;
using apiserver::ResponseStream;

constexpr const char* kNamespace = "wire-1";
constexpr std::uint64_t kSeed = 20260301;
constexpr auto kStart = std::chrono::sys_days(std::chrono::year(2026) / 3 / 1) + std::chrono::hours(8);
// How far the clock may be advanced for a response or the end of a stream. HTTP clients wait that long in
// real time.
constexpr auto kPatience = std::chrono::seconds(10);
constexpr std::size_t kReadBytes = 1 << 20;

// A step that cannot be played, or whose failure leaves nothing to compare.
struct Problem : std::runtime_error {
  using runtime_error::runtime_error;
};

std::pair<std::string, std::string> Assignment(const std::string& text) {
  std::size_t equals = text.find(" = ");
  if (equals == std::string::npos) throw Problem("expected 'name = value', not '" + text + "'");
  return {text.substr(0, equals), text.substr(equals + 3)};
}

Json ReadYaml(const std::string& text) {
  std::string error;
  auto document = api::ParseYaml(text, &error);
  if (!document) throw Problem("cannot read the YAML of the case: " + error + "\n" + text);
  return std::move(document->value);
}

// One apiserver with its store, clock and executor.
struct World {
  explicit World(const std::string& gate_words)
      : runtime(kStart),
        prng(kSeed),
        gates(ReadGates(gate_words)),
        log("wire", std::make_shared<spdlog::sinks::null_sink_mt>()),
        store(storage::OpenMemoryStore()),
        handler(apiserver::Handler::Make({runtime, runtime, prng, gates, log}, *store, {})) {}

  static api::FeatureGates ReadGates(const std::string& words) {
    if (words.empty()) return {};
    auto gates = api::FeatureGates().With(words);
    if (!gates) throw Problem("gates: " + gates.status().message);
    return std::move(*gates);
  }

  ManualRuntime runtime;
  api::Prng prng;
  api::FeatureGates gates;
  spdlog::logger log;
  std::unique_ptr<storage::Store> store;
  std::unique_ptr<apiserver::Handler> handler;
};

struct OpenStream {
  std::unique_ptr<ResponseStream> stream;
  std::string unread;
  bool ended = false;

  void Pull() {
    std::size_t before = 0;
    do {
      before = unread.size();
      if (!ended) ended = stream->Read(kReadBytes, unread) != ResponseStream::State::kOpen;
    } while (unread.size() > before);
  }
};

class Player {
 public:
  explicit Player(const PlayOptions& options) : options_(options), world_(options.gates) {}

  std::vector<std::string> PlayStep(const Step& step) {
    found_.clear();
    if (step.verb == "ADVANCE")
      world_.runtime.Advance(std::chrono::seconds(std::stoi(step.target)));
    else if (step.verb == "COMPACT")
      world_.store->Compact(world_.store->CurrentRevision());
    else if (step.verb == "GATES")
      world_.gates = World::ReadGates(step.target);
    else if (step.verb == "EVENTS")
      ReadEvents(step);
    else
      Exchange(step);
    return found_;
  }

  void MakeNamespace() {
    Json body = {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", kNamespace}}}};
    Response response = Serve(MakeRequest("POST", "/api/v1/namespaces", {}, body.dump()));
    if (response.code != 201) throw Problem("cannot make the namespace: " + response.body);
  }

 private:
  std::string Fill(std::string_view text) const {
    std::string filled;
    if (!Substitute(text, kNamespace, saved_, &filled))
      throw Problem("nothing was saved as {" + filled + "}");
    return filled;
  }

  Response Serve(apiserver::Request request) {
    std::optional<Response> response;
    world_.handler->Serve(std::move(request), [&](Response answer) { response = std::move(answer); });
    world_.runtime.RunReady();
    while (!response && world_.runtime.AdvanceToNextTimer(kPatience)) {
    }
    if (!response) throw Problem("the handler gave no answer");
    return std::move(*response);
  }

  void Exchange(const Step& step) {
    std::vector<Header> headers;
    for (const Header& header : step.headers) headers.push_back({header.name, Fill(header.value)});
    Response response = Serve(MakeRequest(step.verb, Fill(step.target), headers, Body(step)));
    if (response.stream) {
      const std::string* name = step.Find("stream");
      if (name == nullptr) throw Problem("the answer is a stream: the request needs a '@stream NAME'");
      OpenStream& open = streams_[*name];
      open = {std::move(response.stream), "", false};
      open.stream->SetWake([] {});
    }
    CheckAnswer(step, response);
  }

  // JSON from the step's YAML, its '@like' and its edits, or the text as written.
  std::optional<std::string> Body(const Step& step) const {
    if (step.Find("raw") != nullptr) return Fill(step.body);
    for (const Header& header : step.headers)
      if (header.name == "Content-Type" && header.value == "application/yaml") return Fill(step.body + "\n");
    bool edited = step.Find("like") || step.Find("set") || step.Find("unset");
    if (step.body.empty() && !edited) return std::nullopt;
    Json document = step.body.empty() ? Json() : ReadYaml(Fill(step.body));
    for (const Directive& directive : step.directives) Edit(directive, document);
    return document.dump();
  }

  void Edit(const Directive& directive, Json& document) const {
    if (directive.name == "like") {
      auto base = options_.objects.find(directive.rest);
      if (base == options_.objects.end()) throw Problem("there is no @object " + directive.rest);
      Json object = ReadYaml(Fill(base->second));
      document = document.is_null() ? std::move(object) : Merge(std::move(object), document);
    } else if (directive.name == "set") {
      auto [path, value] = Assignment(Fill(directive.rest));
      if (!SetAt(document, path, ReadYaml(value))) throw Problem("@set leads nowhere: " + path);
    } else if (directive.name == "unset") {
      if (!UnsetAt(document, Fill(directive.rest))) throw Problem("@unset finds nothing: " + directive.rest);
    }
  }

  void CheckAnswer(const Step& step, const Response& response) {
    if (response.code != step.code)
      return Add("expected HTTP " + std::to_string(step.code) + ", got " + std::to_string(response.code) +
                 ": " + response.body);
    for (const Header& header : step.answer_headers) CheckHeader(header, response);
    CheckWarnings(step, response);
    CheckText(step, response);
    std::vector<Json> expected = Expected(step);
    bool looks_inside = std::any_of(step.checks.begin(), step.checks.end(), IsPathCheck);
    if (expected.empty() && !looks_inside) return;
    Json document = Json::parse(response.body, nullptr, false);
    if (document.is_discarded()) return Add("expected JSON, got " + response.body);
    for (const Json& want : expected)
      for (std::string& difference : Differences(want, document, ExactPaths(step)))
        Add(std::move(difference));
    CheckPaths(step, document);
  }

  void CheckHeader(const Header& header, const Response& response) {
    std::string got = AnswerHeader(response, header.name);
    if (!TextMatches(Fill(header.value), got))
      Add("header " + header.name + ": expected '" + header.value + "', got '" + got + "'");
  }

  void CheckWarnings(const Step& step, const Response& response) {
    std::vector<std::string> want;
    for (const Directive& check : step.checks)
      if (check.name == "warning") want.push_back(Fill(check.rest));
    if (!std::equal(want.begin(), want.end(), response.warnings.begin(), response.warnings.end(),
                    TextMatches))
      Add("warnings: expected " + Show(want) + ", got " + Show(response.warnings));
  }

  void CheckText(const Step& step, const Response& response) {
    if (!step.text.empty()) {
      std::string want, got = response.body;
      for (const std::string& line : step.text)
        want += (&line == &step.text.front() ? "" : "\n") + Fill(line);
      while (got.ends_with('\n')) got.pop_back();
      if (!TextMatches(want, got)) Add("text: expected '" + want + "', got '" + got + "'");
    }
    for (const std::string& part : step.contains)
      if (response.body.find(Fill(part)) == std::string::npos)
        Add("text: expected one that contains '" + part + "', got '" + response.body + "'");
  }

  // The documents that the response must contain: the step's YAML, and those of its directives.
  std::vector<Json> Expected(const Step& step) const {
    std::vector<Json> documents;
    if (!step.expect.empty()) documents.push_back(ReadYaml(Fill(step.expect)));
    if (step.code >= 400 && !(step.reason.empty() && step.expect.empty()))
      documents.push_back(
          {{"kind", "Status"}, {"apiVersion", "v1"}, {"status", "Failure"}, {"code", step.code}});
    if (!step.reason.empty()) documents.push_back({{"reason", step.reason}});
    std::vector<std::string> causes;
    for (const Directive& check : step.checks)
      if (check.name == "cause") causes.push_back(Fill(check.rest));
    for (const Directive& check : step.checks) {
      if (check.name == "message") documents.push_back({{"message", Fill(check.rest)}});
      if (check.name != "invalid") continue;
      std::string error;
      auto status = InvalidStatus(Fill(check.rest), causes, &error);
      if (!status) throw Problem(error);
      documents.push_back(std::move(*status));
    }
    return documents;
  }

  static bool IsPathCheck(const Directive& check) {
    return check.name == "save" || check.name == "absent" || check.name == "exact" ||
           check.name == "contains";
  }

  static std::vector<std::string> ExactPaths(const Step& step) {
    std::vector<std::string> paths;
    for (const Directive& check : step.checks)
      if (check.name == "exact") paths.push_back(check.rest);
    return paths;
  }

  void CheckPaths(const Step& step, const Json& document) {
    for (const Directive& check : step.checks) {
      if (check.name == "save") {
        auto [name, path] = Assignment(check.rest);
        const Json* value = FindAt(document, path);
        if (value == nullptr)
          Add(path + ": expected a value to save as " + name + ", got nothing");
        else
          saved_[name] = value->is_string() ? value->get<std::string>() : value->dump();
      } else if (check.name == "absent") {
        if (const Json* value = FindAt(document, check.rest))
          Add(check.rest + ": expected nothing, got " + Show(*value));
      } else if (check.name == "contains") {
        auto [path, text] = Assignment(Fill(check.rest));
        CheckContains(path, ReadYaml(text), FindAt(document, path));
      }
    }
  }

  void CheckContains(const std::string& path, const Json& want, const Json* list) {
    bool found = list != nullptr && list->is_array() &&
                 std::any_of(list->begin(), list->end(),
                             [&](const Json& item) { return Differences(want, item).empty(); });
    if (!found)
      Add(path + ": expected an item " + Show(want) + ", got " + (list == nullptr ? "nothing" : Show(*list)));
  }

  void ReadEvents(const Step& step) {
    auto it = streams_.find(step.target);
    if (it == streams_.end()) throw Problem("there is no stream " + step.target);
    OpenStream& open = it->second;
    open.Pull();
    Json want = step.expect.empty() ? Json::array() : ReadYaml(Fill(step.expect));
    Json got = Json::array();
    while (got.size() < want.size() && open.unread.find('\n') != std::string::npos)
      got.push_back(TakeEvent(open));
    for (std::string& difference : Differences(want, got, ExactPaths(step))) Add(std::move(difference));
    CheckPaths(step, got);
    bool end = std::any_of(step.checks.begin(), step.checks.end(),
                           [](const Directive& c) { return c.name == "end"; });
    if (end) CheckEnd(open);
  }

  static Json TakeEvent(OpenStream& open) {
    std::size_t end = open.unread.find('\n');
    Json event = Json::parse(open.unread.begin(), open.unread.begin() + static_cast<std::ptrdiff_t>(end),
                             nullptr, false);
    if (event.is_discarded()) throw Problem("expected an event, got " + open.unread.substr(0, end));
    open.unread.erase(0, end + 1);
    return event;
  }

  void CheckEnd(OpenStream& open) {
    while (!open.ended && world_.runtime.AdvanceToNextTimer(kPatience)) open.Pull();
    if (!open.ended || !open.unread.empty())
      Add("expected the end of the stream, got " + (open.unread.empty() ? "an open one" : open.unread));
  }

  void Add(std::string difference) { found_.push_back(std::move(difference)); }

  const PlayOptions& options_;
  World world_;
  std::map<std::string, std::string> saved_;
  std::map<std::string, OpenStream> streams_;  // destroyed before the apiserver it reads from
  std::vector<std::string> found_;
};

}  // namespace

std::string Play(const Conversation& talk, const PlayOptions& options) {
  const Step* at = nullptr;
  std::vector<std::string> found;
  try {
    Player player(options);
    player.MakeNamespace();
    for (const Step& step : talk.steps) {
      at = &step;
      found = player.PlayStep(step);
      if (!found.empty()) break;
    }
  } catch (const Problem& problem) {
    found = {problem.what()};
  }
  if (found.empty()) return "";
  std::string report = at == nullptr ? std::to_string(talk.line) + ": " + talk.title
                                     : std::to_string(at->line) + ": " + at->verb + " " + at->target;
  for (const std::string& difference : found) report += "\n    " + difference;
  return report;
}

}  // namespace terrarium::wire
