#include "api/base/clock.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "api/base/duration.h"
#include "api/base/errors.h"
#include "api/json_access.h"
#include "controllers/runtime/why.h"
#include "testbed/control_plane/components.h"
#include "testbed/control_plane/object_condition.h"
#include "testbed/control_plane/object_watch.h"
#include "testbed/server/control/endpoint.h"

namespace terrarium::testbed::control {
namespace {

using api::Result;

// The default limit of run-until-idle and run-until: a day of virtual time.
constexpr std::string_view kDefaultLimit = "24h";

Json ClockJson(Runtime& runtime) {
  Json out = {{"mode", runtime.mode().String()},
              {"now", api::FormatMicroTime(runtime.Now())},
              {"idle", runtime.Idle()}};
  if (auto next = runtime.NextTimer()) out["nextTimer"] = api::FormatMicroTime(*next);
  if (auto next = runtime.NextWorkTimer()) out["nextWorkTimer"] = api::FormatMicroTime(*next);
  return out;
}

std::string_view WhyText(RunOutcome::Why why) {
  switch (why) {
    case RunOutcome::Why::kDone: return "done";
    case RunOutcome::Why::kIdle: return "idle";
    case RunOutcome::Why::kDeadline: return "deadline";
    case RunOutcome::Why::kNoTimer: return "no-timer";
    case RunOutcome::Why::kStopped: return "stopped";
    case RunOutcome::Why::kBusy:
    case RunOutcome::Why::kEnded: break;
  }
  return "busy";
}

// Who does most of what there is to do at this instant: the component, and as far as its controllers record
// what they do, the controller and the object on whose behalf it acts.
Json BusiestJson(ControlPlane& control_plane, const RunOutcome& outcome) {
  struct Actor {
    std::string controller, resource;
    api::ObjectName object;
    auto operator<=>(const Actor&) const = default;
  };
  std::map<Actor, int> actions;
  for (const controllers::WhyRecord& record : control_plane.components().why().Find())
    if (record.time == outcome.now) ++actions[{record.controller, record.owner_resource, record.owner}];
  Json out = {{"component", outcome.busiest}};
  auto most =
      std::max_element(actions.begin(), actions.end(), [](auto& a, auto& b) { return a.second < b.second; });
  if (most == actions.end()) return out;
  const auto& [actor, count] = *most;
  out["controller"] = actor.controller;
  out["actions"] = count;
  if (actor.resource.empty()) return out;
  out["resource"] = actor.resource;
  if (!actor.object.ns.empty()) out["namespace"] = actor.object.ns;
  out["name"] = actor.object.name;
  return out;
}

Json OutcomeJson(const RunOutcome& outcome, api::Time began) {
  return {{"outcome", WhyText(outcome.why)},
          {"now", api::FormatMicroTime(outcome.now)},
          {"advanced", api::FormatDuration(outcome.now - began)},
          {"timersFired", outcome.timers_fired}};
}

// A duration member that is not negative.
Result<api::Duration> DurationAt(const Json& body, const char* member, std::string_view otherwise) {
  const Json* value = api::Find(body, member);
  if (value == nullptr && otherwise.empty())
    return api::BadRequest(std::string(member) + " is missing: a duration like \"90s\"");
  auto parsed = api::ParseDuration(value == nullptr ? otherwise : value->get_ref<const std::string&>());
  if (!parsed) return api::BadRequest(std::string(member) + ": " + parsed.error);
  if (parsed.value < api::Duration::zero())
    return api::BadRequest(std::string(member) + " goes back in time");
  return parsed.value;
}

// Calls `move`, unless the clock follows the wall clock or `check` fails, and replies with its outcome.
void Move(Call call, std::function<RunOutcome(ClockControl&)> move, std::function<void(Json&)> add = {},
          std::function<Result<void>()> check = {}) {
  Runtime& runtime = call.control.control_plane().runtime();
  if (runtime.mode().FollowsWall())
    return call.reply(api::BadRequest("the clock is " + runtime.mode().String() +
                                      ", not virtual: POST clock/freeze first"));
  ControlApi& control = call.control;
  control.RunOnClock(
      [&control, &runtime, move = std::move(move), add = std::move(add), check = std::move(check),
       reply = std::move(call.reply)](ClockControl& clock) {
        if (check)
          if (auto fine = check(); !fine) return reply(fine.status());
        api::Time began = runtime.Now();
        RunOutcome outcome = move(clock);
        Json answer = OutcomeJson(outcome, began);
        if (outcome.why == RunOutcome::Why::kBusy)
          answer["busiest"] = BusiestJson(control.control_plane(), outcome);
        if (add) add(answer);
        reply(std::move(answer));
      },
      std::move(call.client_gone));
}

void GetClock(Call call) { call.reply(ClockJson(call.control.control_plane().runtime())); }

void SetMode(Call call, const std::string& text) {
  auto mode = ClockMode::Parse(text);
  if (!mode) return call.reply(mode.status());
  Runtime& runtime = call.control.control_plane().runtime();
  runtime.SetMode(*mode);
  call.reply(ClockJson(runtime));
}

void PutClock(Call call) {
  if (auto fine = CheckTexts(call.body, {"mode"}); !fine) return call.reply(fine.status());
  std::string mode(api::StringAt(call.body, "mode"));
  SetMode(std::move(call), mode);
}

void Freeze(Call call) { SetMode(std::move(call), "virtual"); }

void Advance(Call call) {
  if (auto fine = CheckTexts(call.body, {"duration"}); !fine) return call.reply(fine.status());
  auto duration = DurationAt(call.body, "duration", "");
  if (!duration) return call.reply(duration.status());
  const Runtime& runtime = call.control.control_plane().runtime();
  // Checked when the move begins, since others may come first.
  auto check = [&runtime, duration = *duration]() -> Result<void> {
    if (duration <= kLastTime - runtime.Now()) return {};
    return api::BadRequest("duration: a clock cannot move past the year 9999");
  };
  Move(
      std::move(call), [duration = *duration](ClockControl& clock) { return clock.Advance(duration); }, {},
      check);
}

void NextTimer(Call call) {
  Move(std::move(call), [](ClockControl& clock) { return clock.AdvanceToNextTimer(); });
}

void RunUntilIdle(Call call) {
  if (auto fine = CheckTexts(call.body, {"limit"}); !fine) return call.reply(fine.status());
  auto limit = DurationAt(call.body, "limit", kDefaultLimit);
  if (!limit) return call.reply(limit.status());
  Move(std::move(call), [limit = *limit](ClockControl& clock) { return clock.RunUntilIdle(limit); });
}

void RunUntil(Call call) {
  if (auto fine = CheckTexts(call.body, {"resource", "namespace", "name", "for", "limit"}); !fine)
    return call.reply(fine.status());
  auto limit = DurationAt(call.body, "limit", kDefaultLimit);
  if (!limit) return call.reply(limit.status());
  auto condition = ObjectCondition::Parse(std::string(api::StringAt(call.body, "for")));
  if (!condition) return call.reply(condition.status());
  storage::ObjectKey key{std::string(api::StringAt(call.body, "resource")),
                         std::string(api::StringAt(call.body, "namespace")),
                         std::string(api::StringAt(call.body, "name"))};
  if (key.name.empty()) return call.reply(api::BadRequest("name is missing"));
  auto made = ObjectWatch::Make(call.control.control_plane(), std::move(key), std::move(*condition));
  if (!made) return call.reply(made.status());
  std::shared_ptr<ObjectWatch> watch = std::move(*made);
  Move(
      std::move(call),
      [limit = *limit, watch](ClockControl& clock) {
        return clock.RunUntil([&watch] { return watch->Held(); }, limit);
      },
      [watch](Json& answer) {
        if (watch->Held()) answer["revision"] = watch->revision();
      });
}

constexpr Endpoint kEndpoints[] = {
    {"GET", "/clock", "the clock's mode and time, and when the next timers are due", "", GetClock},
    {"PUT", "/clock", "set the mode: real, scaled=N, virtual or auto", R"({"mode": "virtual"})", PutClock},
    {"POST", "/clock/freeze", "stop the clock where it is: mode virtual", "", Freeze},
    {"POST", "/clock/advance", "move a virtual clock forward, timer by timer", R"({"duration": "30s"})",
     Advance},
    {"POST", "/clock/next-timer", "move a virtual clock to the next timer of any kind", "", NextTimer},
    {"POST", "/clock/run-until-idle",
     "move a virtual clock until only housekeeping is left, or the limit has passed", R"({"limit": "1h"})",
     RunUntilIdle},
    {"POST", "/clock/run-until",
     "move a virtual clock until a condition on an object holds, or the limit has passed",
     R"({"resource": "pods", "namespace": "default", "name": "web", "for": "condition=Ready", "limit": "5m"})",
     RunUntil},
};

}  // namespace

std::span<const Endpoint> ClockEndpoints() { return kEndpoints; }

}  // namespace terrarium::testbed::control
