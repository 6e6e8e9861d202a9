#pragma once

// Asks downscalePodPickers which pods to delete, without blocking a sync: Ask() returns nullopt while a call
// is in flight, and `wake` is called when the owner should ask again. Each owner has at most one call in
// flight.
//
// Retries back off from 50 ms, doubling up to 5 s, on the control plane's clock.

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
    int calls = 0;  // calls made since this owner began to ask this picker
  };
  // The picker's response to exactly this question, or the fault after all retries; the question is then
  // forgotten. nullopt: the picker is being asked. A response to an earlier question is not used. A changed
  // picker, or a new owner of the same name, is asked immediately. After a change of spec.replicas the picker
  // is asked as soon as no call is in flight. Changed candidates count as a failed call, so that pods that
  // keep changing cannot block a scale-down forever.
  std::optional<Verdict> Ask(const ObjectName& owner, Question question);
  // Forgets the owner's question; its pending response is ignored.
  void Drop(const ObjectName& owner);

 private:
  enum class State { kCalling, kPausing, kDue, kAnswered };
  struct Pick {
    Question question;
    State state = State::kDue;
    int tries = 0;  // for this question
    int calls = 0;  // to this picker, for any question; a try that ends before a call is not counted
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
