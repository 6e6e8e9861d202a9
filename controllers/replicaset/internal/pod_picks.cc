#include "controllers/replicaset/internal/pod_picks.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <prometheus/counter.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include "api/json_access.h"
#include "controllers/replicaset/internal/picker_call.h"

namespace terrarium::controllers::replicaset {
namespace {

using namespace std::chrono_literals;

constexpr api::Duration kPauseMin = 50ms;
constexpr api::Duration kPauseMax = 5s;

// `tries` is at least 1.
api::Duration PauseAfter(int tries) {
  constexpr int kDoublingsMax = 10;
  return std::min(kPauseMin * (1 << std::min(tries - 1, kDoublingsMax)), kPauseMax);
}

bool WasCalled(const api::HttpAnswer& answer) {
  return answer.outcome != api::HttpAnswer::Outcome::kNotAllowed;
}

}  // namespace

// Series appear with their first use: without a picker there are none.
class PickMetrics {
 public:
  explicit PickMetrics(prometheus::Registry& registry)
      : calls_(prometheus::BuildCounter()
                   .Name("replicaset_controller_downscale_pod_picker_calls_total")
                   .Help("[ALPHA] Number of calls to downscalePodPickers, by what came of them.")
                   .Register(registry)),
        retries_(prometheus::BuildCounter()
                     .Name("replicaset_controller_downscale_pod_picker_retries_total")
                     .Help("[ALPHA] Number of calls to downscalePodPickers that repeated a failed one.")
                     .Register(registry)),
        failures_(
            prometheus::BuildCounter()
                .Name("replicaset_controller_downscale_pod_picker_failures_total")
                .Help("[ALPHA] Number of scale-downs in which all pods ranked alike because their "
                      "downscalePodPicker could not be asked or gave no valid answer, by the last reason.")
                .Register(registry)),
        duration_(prometheus::BuildHistogram()
                      .Name("replicaset_controller_downscale_pod_picker_call_duration_seconds")
                      .Help("[ALPHA] How long calls to downscalePodPickers took, in wall-clock time "
                            "whatever the clock mode of the control plane.")
                      .Register(registry)) {}

  void Called(std::string_view outcome, std::chrono::nanoseconds took) {
    calls_.Add({{"outcome", std::string(outcome)}}).Increment();
    duration_
        .Add({}, prometheus::Histogram::BucketBoundaries{0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1,
                                                         2.5, 5, 10, 30})
        .Observe(std::chrono::duration<double>(took).count());
  }
  void Retried() { retries_.Add({}).Increment(); }
  void Failed(std::string_view reason) { failures_.Add({{"reason", std::string(reason)}}).Increment(); }

 private:
  prometheus::Family<prometheus::Counter>& calls_;
  prometheus::Family<prometheus::Counter>& retries_;
  prometheus::Family<prometheus::Counter>& failures_;
  prometheus::Family<prometheus::Histogram>& duration_;
};

PodPicks::PodPicks(const ControllerContext& context, std::function<void(const ObjectName&)> wake)
    : context_(context),
      wake_(std::move(wake)),
      metrics_(std::make_unique<PickMetrics>(context.metrics.registry())),
      pauses_(context.env,
              [this](const ObjectName& owner) {
                picks_.at(owner).state = State::kDue;
                wake_(owner);
              }),
      calls_(context.env.executor) {}

PodPicks::~PodPicks() = default;

std::optional<PodPicks::Verdict> PodPicks::Ask(const ObjectName& owner, Question question) {
  auto pick = picks_.find(owner);
  if (pick != picks_.end()) {
    const Question& asked = pick->second.question;
    if (asked.owner_uid != question.owner_uid || asked.picker != question.picker) {
      Drop(owner);
      pick = picks_.end();
    }
  }
  if (pick == picks_.end()) pick = picks_.emplace(owner, Pick{}).first;
  if (pick->second.state == State::kPausing && pick->second.question.wanted != question.wanted) {
    pauses_.Cancel(owner);
    pick->second.state = State::kDue;
  }
  switch (pick->second.state) {
    case State::kCalling:
    case State::kPausing: return std::nullopt;
    case State::kDue: return Call(pick, std::move(question));
    case State::kAnswered: break;
  }
  return Judge(pick, std::move(question));
}

std::optional<PodPicks::Verdict> PodPicks::Call(Picks::iterator it, Question question) {
  Pick& pick = it->second;
  // spec.replicas has changed: earlier failures belong to another question.
  if (pick.question.wanted != question.wanted) pick.tries = 0;
  pick.question = std::move(question);
  if (context_.http == nullptr)
    return End(it, PickFault{pick_outcome::kNoClient, "this control plane has no HTTP client for it", false});
  auto find = [&](const std::string& name) -> api::ObjectPtr {
    api::Result<api::ObjectPtr> secret = context_.client.Get("secrets", {it->first.ns, name});
    return secret ? *secret : nullptr;
  };
  auto call = CallOf(pick.question.picker, pick.question.request, find);
  if (auto* fault = std::get_if<PickFault>(&call)) return End(it, std::move(*fault));
  if (++pick.tries > 1) metrics_->Retried();
  pick.state = State::kCalling;
  auto answered = [this, owner = it->first](OutsideCalls::CallId id, const api::HttpAnswer& answer) {
    Answered(owner, id, answer);
  };
  pick.call = calls_.Start(*context_.http, std::move(std::get<api::HttpCall>(call)), std::move(answered));
  return std::nullopt;
}

std::optional<PodPicks::Verdict> PodPicks::Judge(Picks::iterator it, Question question) {
  Pick& pick = it->second;
  if (pick.question.wanted != question.wanted) return Call(it, std::move(question));
  PickResult result = std::move(*pick.result);
  pick.result.reset();
  const bool stale = std::holds_alternative<PickAnswer>(result) && pick.question.request != question.request;
  if (stale) result = PickFault{pick_outcome::kStale, "the candidates changed while it was being asked"};
  const auto* fault = std::get_if<PickFault>(&result);
  const bool again =
      fault != nullptr && fault->worth_retrying && pick.tries <= api::IntAt(question.picker, 3, "maxRetries");
  if (!again) return End(it, std::move(result));
  if (stale) return Call(it, std::move(question));
  pick.state = State::kPausing;
  pauses_.Set(it->first, PauseAfter(pick.tries));
  return std::nullopt;
}

PodPicks::Verdict PodPicks::End(Picks::iterator pick, PickResult result) {
  if (const auto* fault = std::get_if<PickFault>(&result)) metrics_->Failed(fault->outcome);
  Verdict verdict{std::move(result), pick->second.calls};
  picks_.erase(pick);
  return verdict;
}

void PodPicks::Answered(const ObjectName& owner, OutsideCalls::CallId call, const api::HttpAnswer& answer) {
  auto it = picks_.find(owner);
  const bool awaited = it != picks_.end() && it->second.call == call;
  if (!awaited) {
    if (WasCalled(answer)) metrics_->Called(pick_outcome::kAbandoned, answer.took);
    return;
  }
  Pick& pick = it->second;
  pick.result = ReadAnswer(answer, pick.question.request);
  pick.state = State::kAnswered;
  if (WasCalled(answer)) {
    ++pick.calls;
    metrics_->Called(OutcomeOf(*pick.result), answer.took);
  }
  wake_(owner);
}

void PodPicks::Drop(const ObjectName& owner) {
  auto pick = picks_.find(owner);
  if (pick == picks_.end()) return;
  if (pick->second.state == State::kCalling) calls_.Abandon(pick->second.call);
  pauses_.Cancel(owner);
  picks_.erase(pick);
}

}  // namespace terrarium::controllers::replicaset
