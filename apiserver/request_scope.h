#pragma once

// The life of one request in a server: it begins when the server accepts the request, and ends when the
// response has been delivered and, if that is a stream, the stream has ended. The scope counts the request in
// the parts of the server that it passes through, holds its deadline, gives the response once, and ends its
// stream.
//
// A part of the server does not wrap responders or streams. It enters the scope into its group (RequestGroup)
// or its limit (InflightLimit), and registers what it does to a response.
//
// A write of a caller in the same process (Handler::Write) has no scope: it has no deadline, limit or stream,
// and a scope would cost an allocation per write. RestartableHandler::Write and the in-process client discard
// the responses of a crashed run themselves. The lifetime of a watch is not a deadline of its request:
// WatchStream sends a last bookmark before it ends.

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "api/base/clock.h"
#include "api/base/executor.h"
#include "apiserver/request.h"
#include "apiserver/request_group.h"

namespace terrarium::apiserver {

class RequestScope;
using RequestScopePtr = std::shared_ptr<RequestScope>;

// Thread-safe, but for Enter() and OnResponse(): the parts call them one after the other on the request's way
// to its verb, before there can be a response.
class RequestScope : public std::enable_shared_from_this<RequestScope> {
 public:
  // Gets the response, on the thread that gives it. The request is in flight while `in_flight` is held.
  using Deliver = std::function<void(Response response, std::shared_ptr<void> in_flight)>;

  static RequestScopePtr Make(const Request& request, Deliver deliver);
  // For a receiver that is done with the response when it returns.
  static RequestScopePtr Make(const Request& request, Responder respond);
  // Use Make().
  RequestScope(Deliver deliver, std::string what);

  // The method and the path, for logs.
  const std::string& what() const { return what_; }

  // The request uses the group until it is no longer in flight, its stream until that has ended. False: the
  // group is closed.
  [[nodiscard]] bool Enter(RequestGroupPtr group);
  // Counts the request until its response is given. False: the limit is reached. `limit` lives as long as a
  // group that was entered.
  [[nodiscard]] bool Enter(InflightLimit& limit);
  // Keeps the request in flight for as long as the returned value lives, also after the response: for a
  // caller that is still inside a part of the server then.
  std::shared_ptr<void> StayInFlight();

  // Calls `change` with the response before it is delivered. What was registered last is called first: a
  // response passes the parts in the reverse order of the request.
  void OnResponse(std::function<void(Response&)> change) { changes_.push_back(std::move(change)); }
  // Only within a function of OnResponse(): holds `value` until the response's stream ends.
  void HoldWithStream(std::shared_ptr<void> value) { held_.push_back(std::move(value)); }

  // Gives `late()` after `limit` unless there is a response by then. `executor` lives as long as a group that
  // was entered.
  void SetDeadline(api::Executor& executor, api::Duration limit, std::function<Response()> late);

  // Gives the response. Calls after the first are no-ops.
  void Respond(Response response);
  bool HasResponse() const { return responded_; }
  // Respond() as a function. It keeps the scope alive.
  Responder AsResponder();

 private:
  // The groups of a request that is in flight.
  struct InFlight {
    std::vector<RequestGroupPtr> groups;
    ~InFlight();
  };

  void CancelDeadline();

  Deliver deliver_;
  const std::string what_;
  std::atomic<bool> responded_ = false;
  std::vector<InflightLimit*> limits_;
  std::vector<std::function<void(Response&)>> changes_;
  std::vector<std::shared_ptr<void>> held_;
  std::mutex mutex_;
  std::shared_ptr<InFlight> in_flight_;  // guarded by mutex_; nullptr: the response has been delivered
  api::Executor* executor_ = nullptr;    // guarded by mutex_; nullptr: no deadline
  api::TimerId timer_ = 0;               // guarded by mutex_
};

}  // namespace terrarium::apiserver
