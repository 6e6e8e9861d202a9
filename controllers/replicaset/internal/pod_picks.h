#pragma once

// Asks downscalePodPickers which pods should go, without keeping anybody waiting: who asks is told to come again, and
// woken when there is something to come for. One question of an owner is under way at a time.
//
// Retries wait 50 ms of the plane's time, then twice as long each time, up to 5 s.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "api/http_caller.h"
#include "api/json.h"
#include "api/object_name.h"
#include "controllers/controller.h"
#include "controllers/replicaset/internal/outside_calls.h"
#include "controllers/replicaset/internal/pod_picker.h"
#include "controllers/runtime/key_timers.h"

namespace terrarium::controllers::replicaset {

class PickMetrics;

// Single-threaded, on the controller's lane.
class PodPicks {
 public:
  PodPicks(const ControllerContext& context, std::function<void(const ObjectName&)> wake);
  ~PodPicks();

  struct Question {
    std::string owner_uid;
    int wanted = 0;    // spec.replicas
    api::Json picker;  // spec.downscalePodPicker
    PickRequest request;
  };
  struct Verdict {
    PickResult result;
    int calls = 0;  // that were made for it
  };
  // What the picker says to exactly this question, or why it says nothing after all retries; then the question is
  // forgotten. nullopt: it is being asked. An answer to what was asked before is not used: another picker,
  // or one for another owner of that name, is asked at once, the same one about other replicas when its old answer has
  // come. Other candidates count as a failed
  // call, so that pods that keep changing do not keep their number from shrinking for ever.
  std::optional<Verdict> Ask(const ObjectName& owner, Question question);
  // There is nothing to ask (any more).
  void Drop(const ObjectName& owner);

 private:
  enum class State { kCalling, kPausing, kDue, kAnswered };
  struct Pick {
    Question question;
    State state = State::kDue;
    int calls = 0;
    OutsideCalls::CallId call = 0;
    std::optional<PickResult> result;  // kAnswered
  };
  using Picks = std::map<ObjectName, Pick>;

  std::optional<Verdict> Call(Picks::iterator pick, Question question);
  std::optional<Verdict> Judge(Picks::iterator pick, Question question);
  Verdict End(Picks::iterator pick, PickResult result);
  void Answered(const ObjectName& owner, OutsideCalls::CallId call, const api::HttpAnswer& answer);

  ControllerContext context_;
  std::function<void(const ObjectName&)> wake_;
  Picks picks_;
  std::unique_ptr<PickMetrics> metrics_;
  KeyTimers pauses_;
  OutsideCalls calls_;
};

}  // namespace terrarium::controllers::replicaset
