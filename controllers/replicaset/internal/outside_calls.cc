#include "controllers/replicaset/internal/outside_calls.h"

#include <map>
#include <mutex>
#include <utility>

namespace terrarium::controllers::replicaset {

struct OutsideCalls::State {
  std::mutex mutex;
  api::Executor* lane = nullptr;                 // nullptr: the controller has ended
  std::map<CallId, api::OutsideWork> under_way;  // ends, like Post, only while there is a lane
};

OutsideCalls::OutsideCalls(api::Executor& lane) : state_(std::make_shared<State>()) { state_->lane = &lane; }

OutsideCalls::~OutsideCalls() {
  std::lock_guard lock(state_->mutex);
  state_->under_way.clear();
  state_->lane = nullptr;
}

OutsideCalls::CallId OutsideCalls::Start(api::HttpCaller& caller, api::HttpCall call, Answered answered) {
  const CallId id = ++last_;
  {
    std::lock_guard lock(state_->mutex);
    state_->under_way.emplace(id, api::OutsideWork(*state_->lane));
  }
  auto done = [weak = std::weak_ptr<State>(state_), id,
               answered = std::move(answered)](api::HttpAnswer answer) {
    auto state = weak.lock();
    if (state == nullptr) return;
    // Held until all is posted, so that the controller's end waits for it and the lane is still there.
    std::lock_guard lock(state->mutex);
    if (state->lane == nullptr) return;
    state->lane->Post([weak, id, answered, answer = std::move(answer)] {
      auto state = weak.lock();
      if (state != nullptr && state->lane != nullptr) answered(id, answer);
    });
    state->under_way.erase(id);
  };
  caller.Call(std::move(call), std::move(done));
  return id;
}

void OutsideCalls::Abandon(CallId call) {
  std::lock_guard lock(state_->mutex);
  state_->under_way.erase(call);
}

}  // namespace terrarium::controllers::replicaset
