#pragma once

// One client's connection: reads requests, has them served one after the other, and sends the responses.
// Everything happens on the connection's event loop. Drogon accepts connections, implements TLS and polls the
// socket; it does not parse the bytes.
//
// At most one request is in progress. Pipelined requests wait, so that responses have the order of their
// requests.

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
#include "apiserver/http/websocket.h"
#include "apiserver/request.h"

namespace terrarium::apiserver {

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  using SetTimer = std::function<void(SteadyTime)>;

  // `server` outlives the connection; `tcp` is valid until OnClosed(). `set_timer` schedules a call of
  // OnTimer() and replaces the one scheduled before.
  Connection(ServerState& server, trantor::TcpConnection& tcp, SetTimer set_timer);

  void OnOpened();
  void OnData(std::string_view input);
  void OnTimer();
  void OnClosed();

 private:
  enum class Phase {
    kIdle,  // between requests
    kHead,  // a part of a head has arrived
    kBody,
    kServing,  // the request has no response yet
    kSending,  // the response is being sent
    kStreaming,
    kLingering,  // everything has been sent; waits for the client to close
    kClosed,
  };

  // connection.cc: reading
  // Returns what it did not read: while a request is in progress, the next one waits.
  std::string_view Read(std::string_view input);
  std::size_t ReadHead(std::string_view input);
  std::size_t ReadBody(std::string_view input);
  void KeepForLater(std::string_view input);
  void ReadWaiting();
  // Frees the part of waiting_ that has been read, when it is the larger one.
  void DropReadPart();
  void BeginIdle();
  void OnHead(std::string_view text);
  void Dispatch();
  std::optional<UserInfo> Authenticate();
  void ArmReadDeadline();
  void SetDeadline(SteadyTime due);
  // Responds with an error and closes, because the start of the next request is unknown.
  void Refuse(const api::Status& status);

  // connection_answer.cc: writing
  void Answer(Response response);
  void SendPlain(Response response);
  void SendRest();
  void StartStream(Response response);
  void PumpStream();
  void EndPiece();
  // True if the kernel has accepted all of it; otherwise OnFlushed() is called later.
  bool Write(std::string_view text);
  bool AwaitFlush();
  void NoteProgress();
  void ArmSendDeadline();
  void OnFlushed();
  void FinishAnswer();
  void StopStream();
  ResponseHeadOptions HeadOptions(BodyEnd end) const;
  void SendHeadAndStream(const std::string& head, Response response, StreamFraming framing);

  // connection_websocket.cc: watches over a websocket
  // Sends `response` over the websocket that the client has requested, or a refusal.
  void StartWebsocket(Response response, StreamFraming framing);
  std::size_t ReadWebsocket(std::string_view input);
  // Replies to the client's pings and close. True if nothing waits for the kernel.
  bool SendWebsocketReply();

  ServerState& server_;
  trantor::TcpConnection* tcp_;  // nullptr: closed
  trantor::EventLoop* const loop_;
  const SetTimer set_timer_;
  Phase phase_ = Phase::kIdle;

  SteadyTime now_;                            // start of the current event
  SteadyTime deadline_ = SteadyTime::max();   // of the phase
  SteadyTime timer_due_ = SteadyTime::max();  // of the scheduled timer
  SteadyTime read_due_ = SteadyTime::max();  // of the head or body that is being read, or of the next request

  std::string partial_head_;
  std::string waiting_;           // received while a request was in progress
  std::size_t waiting_read_ = 0;  // how much of it has been read since
  BudgetShare input_share_;
  RequestHead head_;
  std::optional<BodyDecoder> body_;
  std::size_t head_bytes_ = 0;
  std::shared_ptr<BudgetShare> request_share_;  // of head and body; held until the response
  std::optional<UserInfo> certificate_user_;
  UserInfo user_;
  std::shared_ptr<api::CancelToken> client_gone_;  // of the request that is being served

  std::unique_ptr<WebsocketHandshake> handshake_;  // of the request in progress; nullptr: no websocket
  std::unique_ptr<WebsocketReader> websocket_;     // of a websocket's frames; nullptr: no websocket

  bool close_ = false;  // after this response
  std::string rest_;    // of a response that is sent in pieces
  std::size_t rest_begin_ = 0;
  BudgetShare unsent_share_;
  std::shared_ptr<StreamPump> stream_;
  bool stream_ended_ = false;
  bool flush_pending_ = false;
  bool in_await_ = false;
  std::size_t sent_at_check_ = 0;
  SteadyTime stalled_due_ = SteadyTime::max();  // when a client that has read nothing more is closed
  SteadyTime piece_due_ = SteadyTime::max();    // by when the client must have read the piece being sent
};

// An error as a complete response.
Response StatusResponse(const api::Status& status);

}  // namespace terrarium::apiserver
