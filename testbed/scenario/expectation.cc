#include "testbed/scenario/expectation.h"

#include <utility>

#include "api/base/duration.h"
#include "api/codec/yaml.h"
#include "testbed/scenario/shapes.h"

namespace terrarium::testbed::scenario {
namespace {

using Why = Run::Moved::Why;

constexpr const char* kTimeKeys[] = {"eventually", "always", "never"};

// Checks an expectation at every state that it reaches.
class Guard : public StandingExpectation {
 public:
  Guard(std::unique_ptr<Expectation> expectation, bool never)
      : expectation_(std::move(expectation)), never_(never) {}

  std::optional<Mismatch> Check() override {
    if (!has_checked_) {
      has_checked_ = true;
      if (Broken()) return expectation_->Explain(never_);
    }
    while (expectation_->Next())
      if (Broken()) return expectation_->Explain(never_);
    return std::nullopt;
  }

 private:
  bool Broken() const { return never_ ? expectation_->Occurs() : !expectation_->Holds(); }

  std::unique_ptr<Expectation> expectation_;
  bool never_;
  bool has_checked_ = false;
};

StepOutcome Failed(Mismatch mismatch, const std::string& when) {
  mismatch.text += when;
  return {{}, std::move(mismatch)};
}

// Moves the clock until the expectation holds. If several revisions arrive together, the first one at which
// it holds counts. The initial state counts only if it remains after all work that is due now: a status is
// stale until its controller has synced.
StepOutcome Eventually(Run& run, Expectation& expectation, api::Duration limit) {
  bool held = false;
  auto check = [&] {
    while (!held && expectation.Next()) held = expectation.Holds();
    return held;
  };
  const api::Time until = run.bed().Now() + limit;
  const bool by_revision = expectation.ByRevision();
  Run::Moved moved = run.Move(api::Duration::zero(), by_revision ? check : std::function<bool()>());
  if (moved.why == Why::kLimit && !check()) held = expectation.Holds();
  if (by_revision && !held && moved.why == Why::kLimit) moved = run.Move(limit, check);
  if (!by_revision && moved.why == Why::kLimit) moved.why = Why::kStopped;
  while (!by_revision && !check() && moved.why == Why::kStopped) moved = run.MoveToNextRest(until);
  if (held || check()) return StepOutcome::Fine();
  if (moved.why != Why::kLimit) return Run::BadMove(moved, "");
  return Failed(expectation.Explain(false), ", for all of " + api::FormatDuration(limit));
}

StepOutcome Throughout(Run& run, std::unique_ptr<Expectation> expectation, bool never, api::Duration span) {
  const bool by_revision = expectation->ByRevision();
  Guard guard(std::move(expectation), never);
  std::optional<Mismatch> broken;
  const api::Time began = run.bed().Now();
  auto check = [&] {
    if (!broken) broken = guard.Check();
    return broken.has_value();
  };
  Run::Moved moved{Why::kStopped};
  if (by_revision) {
    moved = run.Move(span, check);
  } else {
    while (!check() && moved.why == Why::kStopped) moved = run.MoveToNextRest(began + span);
    check();
  }
  if (broken)
    return Failed(std::move(*broken),
                  ", " + api::FormatDuration(run.bed().Now() - began) + " into " + api::FormatDuration(span));
  return moved.why == Why::kLimit ? StepOutcome::Fine() : Run::BadMove(moved, "");
}

}  // namespace

const Members& TimeKeys() {
  static const Members members{
      {"eventually", DurationText(), "move the clock until it holds, at most by so much"},
      {"always", Span(),
       "move the clock by so much, and hold it against every revision; or `end`: from here to the end"},
      {"never", Span(), "the same for what must not be at any revision"},
  };
  return members;
}

void CheckTimeKeys(const StepDraft& step, Mistakes& mistakes) {
  std::vector<std::string> given;
  for (const char* key : kTimeKeys)
    if (step.document.contains(key)) given.emplace_back(key);
  if (given.size() > 1)
    mistakes.push_back({api::YamlPathBelow(step.path, given[1]) + "#",
                        "an expectation has one of eventually, always or never"});
}

StepOutcome Judge(Run& run, const Json& step, std::unique_ptr<Expectation> expectation) {
  if (step.contains("eventually"))
    return Eventually(run, *expectation, api::ParseDuration(step["eventually"].get<std::string>()).value);
  for (bool never : {false, true}) {
    const char* key = never ? "never" : "always";
    if (!step.contains(key)) continue;
    const std::string span = step[key].get<std::string>();
    if (span != "end") return Throughout(run, std::move(expectation), never, api::ParseDuration(span).value);
    run.AddStanding(std::make_unique<Guard>(std::move(expectation), never));
    return StepOutcome::Fine();  // the run checks it right after this step
  }
  if (expectation->Holds()) return StepOutcome::Fine();
  return {{}, expectation->Explain(false)};
}

}  // namespace terrarium::testbed::scenario
