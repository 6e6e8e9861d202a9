#include "testbed/scenario/run.h"

#include <algorithm>
#include <utility>

#include "api/base/duration.h"
#include "api/json_access.h"
#include "testbed/embedding/manifests.h"
#include "testbed/embedding/timeline.h"
#include "testbed/scenario/options.h"

namespace terrarium::testbed::scenario {
namespace {

using Why = RunOutcome::Why;
using MovedWhy = Run::Moved::Why;

// How much of the timeline a failure shows.
constexpr std::size_t kTimelineBefore = 15;
constexpr std::size_t kTimelineAfter = 5;
constexpr std::size_t kTimelineWidth = 200;

std::string Quoted(const Json& value) { return value.dump(); }

// How a refusal differs from the one that was expected.
std::vector<Difference> RefusalDifferences(const Json& want, const api::Status& got) {
  std::vector<Difference> out;
  if (want.contains("code") && want["code"] != got.code)
    out.push_back({"code", want["code"].dump(), std::to_string(got.code)});
  if (want.contains("reason") && want["reason"] != got.reason)
    out.push_back({"reason", Quoted(want["reason"]), Quoted(got.reason)});
  if (want.contains("message") && !Like(want["message"].get_ref<const std::string&>(), got.message))
    out.push_back({"message", Quoted(want["message"]), Quoted(got.message)});
  return out;
}

// The step as a whole: was it refused as it should be, and only then?
std::optional<Mismatch> Verdict(const Json& step, StepOutcome outcome) {
  if (outcome.failed) return std::move(outcome.failed);
  if (!step.contains("refused")) {
    if (!outcome.refused) return std::nullopt;
    return Mismatch{"refused: " + std::to_string(outcome.refused->code) + " " + outcome.refused->reason +
                    ": " + outcome.refused->message};
  }
  if (!outcome.refused)
    return Mismatch{"expected to be refused with " + step["refused"].dump() + ", but it was done"};
  std::vector<Difference> differences = RefusalDifferences(step["refused"], *outcome.refused);
  if (differences.empty()) return std::nullopt;
  return Mismatch{"refused, but not as expected", std::move(differences)};
}

}  // namespace

Run::Run(const Scenario& scenario, std::uint64_t seed, const std::atomic<bool>& interrupted)
    : scenario_(scenario), interrupted_(interrupted), seed_(seed) {}

Run::~Run() = default;

RunReport Run::Execute() {
  Start(seed_);
  for (std::size_t i = 0; i < scenario_.steps.size() && report_.result == RunReport::Result::kPassed; ++i)
    DoStep(i);
  report_.virtual_time = bed_->Now() - began_;
  report_.revisions = bed_->control_plane().store().CurrentRevision();
  standing_.clear();
  return std::move(report_);
}

void Run::Start(std::uint64_t seed) {
  TestbedOptions options = OptionsOf(scenario_.options);
  options.seed = seed;
  options.on_violation = [this](const invariants::Violation& violation) {
    if (!violation_) violation_ = violation;
  };
  bed_ = std::make_unique<Testbed>(std::move(options));
  began_ = bed_->Now();
}

bool Run::DoStep(std::size_t index) {
  const Step& step = scenario_.steps[index];
  at_step_ = index;
  if (interrupted_) {
    report_.result = RunReport::Result::kInterrupted;
    return false;
  }
  bed_->timeline().Note("test", "step", step.Title());
  std::optional<Mismatch> wrong = Verdict(step.document, step.def->run(*this, step.document));
  // What stands and was broken meanwhile is the better news: the step mostly failed because of it.
  if (!AllHold()) return false;
  if (wrong) {
    FailAt(index, std::move(*wrong));
    return false;
  }
  const std::string name(api::StringAt(step.document, "name"));
  if (scenario_.marks.contains(name)) metrics_after_[name] = Metrics();
  return true;
}

bool Run::AllHold() {
  if (report_.result != RunReport::Result::kPassed) return false;
  if (violation_) {
    FailAt(at_step_, {violation_->String(), {}, violation_->revision});
    return false;
  }
  for (StandingStep& each : standing_) {
    std::optional<Mismatch> broken = each.standing->Check();
    if (!broken) continue;
    FailAt(each.step, std::move(*broken));
    return false;
  }
  if (interrupted_) report_.result = RunReport::Result::kInterrupted;
  return !interrupted_;
}

void Run::FailAt(std::size_t step, Mismatch mismatch) {
  Failure failure;
  failure.step = step + 1;
  failure.step_title = scenario_.steps[step].Title();
  failure.place = scenario_.steps[step].place;
  failure.revision =
      mismatch.revision != 0 ? mismatch.revision : bed_->control_plane().store().CurrentRevision();
  failure.mismatch = std::move(mismatch);
  failure.time = bed_->Now();
  failure.after = bed_->Now() - began_;
  failure.timeline =
      bed_->timeline().Text({.around = failure.revision, .before = kTimelineBefore, .after = kTimelineAfter});
  report_.result = RunReport::Result::kFailed;
  report_.failure = std::move(failure);
}

void Run::AddStanding(std::unique_ptr<StandingExpectation> standing) {
  standing_.push_back({at_step_, std::move(standing)});
}

Run::Moved Run::Move(api::Duration limit, const std::function<bool()>& stop) {
  bool stopped = false;
  auto ended = [&] {
    if (!AllHold()) return true;
    stopped = stop && stop();
    return stopped;
  };
  // What must hold all the time depends only on writes, so that heartbeats of an idle cluster may be skipped.
  RunOutcome outcome = stop ? bed_->clock().RunUntil(ended, limit) : bed_->clock().Advance(limit, ended);
  if (report_.result != RunReport::Result::kPassed) return {MovedWhy::kBroken};
  if (stopped) return {MovedWhy::kStopped};
  return {outcome.why == Why::kBusy ? MovedWhy::kBusy : MovedWhy::kLimit};
}

Run::Moved Run::MoveUntilIdle(api::Duration limit) {
  RunOutcome outcome = bed_->clock().RunUntilIdle(limit, [this] { return !AllHold(); });
  if (report_.result != RunReport::Result::kPassed) return {MovedWhy::kBroken};
  if (outcome.why == Why::kIdle) return {MovedWhy::kIdle};
  return {outcome.why == Why::kBusy ? MovedWhy::kBusy : MovedWhy::kLimit};
}

Run::Moved Run::MoveToNextRest(api::Time until) {
  auto next = bed_->control_plane().runtime().NextTimer();
  const bool last = !next || *next > until;
  const api::Time to = last ? until : *next;
  Moved moved = Move(std::max(to - bed_->Now(), api::Duration::zero()));
  if (moved.why == MovedWhy::kLimit && !last) return {MovedWhy::kStopped};
  return moved;
}

StepOutcome Run::BadMove(Moved moved, const std::string& wanted) {
  switch (moved.why) {
    case MovedWhy::kBusy:
      return StepOutcome::Failed("the cluster does not come to rest: there is always more to do");
    case MovedWhy::kBroken: return StepOutcome::Fine();  // reported already
    default: break;
  }
  return StepOutcome::Failed(wanted);
}

api::Result<Json> Run::Send(const std::string& method, const std::string& path, const Json& body,
                            const std::string& content_type) {
  apiserver::Request request;
  request.method = method;
  request.path = path;
  if (method != "GET" && method != "DELETE") request.query = {{"fieldValidation", "Strict"}};
  request.content_type = content_type;
  request.accept = "application/json";
  request.user_agent = "terrarium-test";
  if (!body.is_null()) request.body = body.dump();
  apiserver::Response response = bed_->Serve(std::move(request));
  if (response.code >= 400) return StatusOf(response);
  return Json::parse(response.body, nullptr, false);
}

std::string Run::Metrics() {
  apiserver::Request request;
  request.method = "GET";
  request.path = "/metrics";
  return bed_->Serve(std::move(request)).body;
}

std::string Describe(const Scenario& scenario, const Failure& failure) {
  std::string out = "  " + scenario.file + ":" + std::to_string(failure.place.line) + ":" +
                    std::to_string(failure.place.column) + ": step " + std::to_string(failure.step) + ", " +
                    failure.step_title + "\n";
  out += "  " + failure.mismatch.text + "\n";
  for (const Difference& difference : failure.mismatch.differences) {
    out += "    " + difference.path + "\n";
    out += "      - expected " + difference.expected + "\n";
    out += "      + got      " + difference.got + "\n";
  }
  out += "  at " + api::FormatMicroTime(failure.time) + " (" + api::FormatDuration(failure.after) +
         " after the start), revision " + std::to_string(failure.revision) + "\n";
  if (!failure.timeline.empty()) out += "  what happened around it:\n";
  for (std::size_t at = 0; at < failure.timeline.size();) {
    const std::size_t end = std::min(failure.timeline.find('\n', at), failure.timeline.size());
    std::string line = failure.timeline.substr(at, end - at);
    if (line.size() > kTimelineWidth) line = line.substr(0, kTimelineWidth) + "...";
    out += "    " + line + "\n";
    at = end + 1;
  }
  return out;
}

std::string Step::Title() const {
  if (std::string_view name = api::StringAt(document, "name"); !name.empty()) return std::string(name);
  const Json& value = document[std::string(def->verb)];
  std::string out(def->verb);
  if (value.is_string()) return out + " " + value.get<std::string>();
  if (!api::StringAt(value, "kind").empty())
    out += " " + std::string(api::StringAt(value, "kind")) + "/" +
           std::string(api::StringAt(value, "metadata", "name"));
  return out;
}

}  // namespace terrarium::testbed::scenario
