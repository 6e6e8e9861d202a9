#pragma once

// One call, from the look-up of its host to the end of its answer. Lives on the thread of its loop.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/http_caller.h"
#include "testbed/http_caller/http_caller.h"
#include "testbed/http_caller/internal/answer_parser.h"
#include "testbed/http_caller/internal/poll_loop.h"
#include "testbed/http_caller/internal/socket_address.h"
#include "testbed/http_caller/internal/tls_session.h"

namespace terrarium::testbed::internal {

class CallUnderWay : public std::enable_shared_from_this<CallUnderWay> {
 public:
  using Done = std::function<void(api::HttpAnswer)>;
  // Made when the first call needs them, since reading the system's takes a while.
  using Roots = std::function<api::Result<const TlsRoots*>()>;

  // `began` is when the time limit began to run; `loop` and what `roots` gives outlive the call.
  CallUnderWay(PollLoop& loop, api::HttpCall call, PollLoop::Clock::time_point began, Roots roots, Done done);
  ~CallUnderWay();

  // `look_up` gets a callback that may come on any thread; `deliver` brings it back to the loop's.
  using Deliver = std::function<void(std::function<void()>)>;
  void Start(const CallTarget& target, const LookUp& look_up, Deliver deliver);
  // Ends the call with this answer, unless it has ended.
  void Finish(api::HttpAnswer answer);

 private:
  using Outcome = api::HttpAnswer::Outcome;
  enum class Stage { kLookUp, kConnect, kTls, kRequest, kAnswer };

  void Fail(Outcome outcome, std::string error);
  void TimedOut();
  void OnLookedUp(const NameLookUp& found);
  void ConnectNext();
  void Connected();
  void BeginRequest();
  void OnReady(short events);
  void WatchSocket();
  // False: the call has ended.
  bool ReadSocket();
  bool WriteSocket();
  bool TakeBytes(std::string_view bytes);  // as they come from the socket
  bool TakePlain(std::string_view bytes);  // as the server meant them
  void OnEnd();
  void FinishAnswered();
  void CloseSocket();

  PollLoop& loop_;
  api::HttpCall call_;
  Roots roots_;
  Done done_;  // empty: it has ended
  PollLoop::Timer timer_;
  Stage stage_ = Stage::kLookUp;
  std::uint16_t port_ = 0;
  std::vector<SocketAddress> addresses_;
  std::size_t next_address_ = 0;
  std::string request_;
  int fd_ = -1;
  std::string out_;
  std::size_t out_sent_ = 0;
  bool out_broken_ = false;
  std::optional<TlsSession> tls_;
  AnswerParser parser_;
};

}  // namespace terrarium::testbed::internal
