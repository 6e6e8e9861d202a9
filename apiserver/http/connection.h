#pragma once

// One client's connection: reads requests, has them served one after the other, and sends the answers.
// Everything happens on the connection's event loop. Drogon accepts, speaks TLS and watches the socket; it
// does not see the bytes.
//
// At most one request is under way: what a client sends meanwhile (pipelining) waits, so that answers keep
// the order of their requests wherever they were made.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <trantor/net/TcpConnection.h>

#include "api/base/cancel_token.h"
#include "api/base/status.h"
#include "apiserver/http/body_decoder.h"
#include "apiserver/http/byte_budget.h"
#include "apiserver/http/deadline_queue.h"
#include "apiserver/http/request_head.h"
#include "apiserver/http/response_head.h"
#include "apiserver/http/server_state.h"
#include "apiserver/http/stream_pump.h"
#include "apiserver/request.h"

namespace terrarium::apiserver {

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  using SetTimer = std::function<void(SteadyTime)>;

  // `server` outlives the connection, `tcp` does so until OnClosed(). `set_timer` asks for a call of
  // OnTimer(), in the place of one it has asked for before.
  Connection(ServerState& server, trantor::TcpConnection& tcp, SetTimer set_timer);

  void OnOpened();
  void OnData(std::string_view input);
  void OnTimer();
  void OnClosed();

 private:
  enum class Phase {
    kIdle,  // between requests
    kHead,  // a part of a head is there
    kBody,
    kServing,  // the request has no answer yet
    kSending,  // the answer is being sent
    kStreaming,
    kLingering,  // all has been sent, and the client is to close
    kClosed,
  };

  // connection.cc: reading
  void Read(std::string_view input);
  std::size_t ReadHead(std::string_view input);
  std::size_t ReadBody(std::string_view input);
  void KeepForLater(std::string_view input);
  void OnHead(std::string_view text);
  void Dispatch();
  std::optional<UserInfo> Authenticate();
  void ArmReadDeadline();
  void SetDeadline(SteadyTime due);
  // Answers what cannot be served, and closes: where the next request begins is not known.
  void Refuse(const api::Status& status);

  // connection_answer.cc: writing
  void Answer(Response response);
  void SendPlain(Response response);
  void SendRest();
  void StartStream(Response response);
  void PumpStream();
  void EndPiece();
  // True if all of it has been given to the kernel; otherwise OnFlushed() is called when it has.
  bool Write(std::string_view text);
  bool AwaitFlush();
  void OnFlushed();
  void FinishAnswer();
  void StopStream();
  ResponseHeadOptions HeadOptions(BodyEnd end) const;

  ServerState& server_;
  trantor::TcpConnection* tcp_;  // nullptr: closed
  trantor::EventLoop* const loop_;
  const SetTimer set_timer_;
  Phase phase_ = Phase::kIdle;

  SteadyTime now_;                            // when the event began that is being worked on
  SteadyTime deadline_ = SteadyTime::max();   // of the phase
  SteadyTime timer_due_ = SteadyTime::max();  // what was asked for
  SteadyTime read_due_ = SteadyTime::max();   // of the head or body that is being read

  std::string partial_head_;
  std::string waiting_;  // came while a request was under way
  BudgetShare input_share_;
  RequestHead head_;
  std::optional<BodyDecoder> body_;
  std::shared_ptr<BudgetShare> body_share_;  // held until the answer is there
  std::optional<UserInfo> certificate_user_;
  UserInfo user_;
  std::shared_ptr<api::CancelToken> client_gone_;  // of the request that is being served

  bool close_ = false;  // after this answer
  std::string rest_;    // of an answer that leaves in pieces
  std::size_t rest_begin_ = 0;
  BudgetShare unsent_share_;
  std::shared_ptr<StreamPump> stream_;
  bool stream_ended_ = false;
  bool flush_pending_ = false;
  bool in_await_ = false;
  std::size_t sent_at_check_ = 0;
};

// An error as a whole answer.
Response StatusResponse(const api::Status& status);

}  // namespace terrarium::apiserver
