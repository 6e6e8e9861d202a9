#include "apiserver/request_scope.h"

#include <utility>

#include "apiserver/internal/scoped_stream.h"

namespace terrarium::apiserver {

RequestScope::InFlight::~InFlight() {
  for (auto group = groups.rbegin(); group != groups.rend(); ++group) (*group)->Leave();
}

RequestScopePtr RequestScope::Make(const Request& request, Deliver deliver) {
  constexpr std::size_t kPathBytesMax = 200;
  return std::make_shared<RequestScope>(std::move(deliver),
                                        request.method + " " + request.path.substr(0, kPathBytesMax));
}

RequestScopePtr RequestScope::Make(const Request& request, Responder respond) {
  return Make(request, [respond = std::move(respond)](Response response, const std::shared_ptr<void>&) {
    respond(std::move(response));
  });
}

RequestScope::RequestScope(Deliver deliver, std::string what)
    : deliver_(std::move(deliver)), what_(std::move(what)), in_flight_(std::make_shared<InFlight>()) {}

bool RequestScope::Enter(RequestGroupPtr group) {
  if (!group->Enter()) return false;
  std::lock_guard lock(mutex_);
  in_flight_->groups.push_back(std::move(group));
  return true;
}

bool RequestScope::Enter(InflightLimit& limit) {
  if (!limit.Enter()) return false;
  limits_.push_back(&limit);
  return true;
}

std::shared_ptr<void> RequestScope::StayInFlight() {
  std::lock_guard lock(mutex_);
  return in_flight_;
}

void RequestScope::SetDeadline(api::Executor& executor, api::Duration limit, std::function<Response()> late) {
  std::lock_guard lock(mutex_);
  if (responded_) return;
  executor_ = &executor;
  timer_ = executor.PostInBackground(
      limit, [self = shared_from_this(), late = std::move(late)] { self->Respond(late()); });
}

void RequestScope::CancelDeadline() {
  api::Executor* executor;
  {
    std::lock_guard lock(mutex_);
    executor = std::exchange(executor_, nullptr);
  }
  if (executor != nullptr) executor->Cancel(timer_);
}

void RequestScope::Respond(Response response) {
  if (responded_.exchange(true)) return;
  CancelDeadline();
  for (auto change = changes_.rbegin(); change != changes_.rend(); ++change) (*change)(response);
  changes_.clear();
  for (InflightLimit* limit : limits_) limit->Leave();
  std::shared_ptr<InFlight> in_flight;
  {
    std::lock_guard lock(mutex_);
    in_flight = in_flight_;
  }
  if (response.stream)
    response.stream =
        ScopedStream::Wrap(std::move(response.stream), what_, std::move(held_), in_flight->groups);
  held_.clear();
  std::exchange(deliver_, nullptr)(std::move(response), in_flight);
  std::lock_guard lock(mutex_);
  in_flight_ = nullptr;
}

Responder RequestScope::AsResponder() {
  return [self = shared_from_this()](Response response) { self->Respond(std::move(response)); };
}

}  // namespace terrarium::apiserver
