#include <algorithm>
#include <utility>

#include "api/base/errors.h"
#include "apiserver/http/connection.h"

namespace terrarium::apiserver {
namespace {

// The most bytes passed to the library in one call: it copies the bytes that the kernel does not accept.
constexpr std::size_t kPieceBytes = 256 * 1024;
// Smaller for streams, because there may be many of them.
constexpr std::size_t kStreamPieceBytes = 64 * 1024;
// How many times send_limit a client has for a piece. One that reads a byte now and then would otherwise keep
// its connection, and what waits to be sent, indefinitely.
constexpr int kSendLimitsOfPiece = 2;
// How often within send_limit a connection checks whether its client has read more.
constexpr int kProgressChecks = 6;

// `response` would exceed the limit. A client that repeats a completed write would get a conflict.
api::Status TooMuchUnsent(const std::string& method, const Response& response) {
  constexpr const char* kWhy = "the responses that wait to be sent take too much memory";
  const bool has_written = method != "GET" && method != "HEAD" && response.code < 300;
  if (has_written)
    return api::InternalError(std::string("the request was completed without its response: ") + kWhy);
  return api::TooManyRequests(std::string(kWhy) + ", please try again later", 1);
}

bool MayHaveBody(int code) { return code >= 200 && code != 204 && code != 304; }

}  // namespace

ResponseHeadOptions Connection::HeadOptions(BodyEnd end) const {
  return {.end = end,
          .minor_version = head_.minor_version,
          .close = close_,
          .keep_alive = head_.minor_version == 0 && !close_,
          .now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())};
}

void Connection::Answer(Response response) {
  if (phase_ == Phase::kClosed) return;
  now_ = server_.now();
  head_.DropFields();
  request_share_ = nullptr;
  const auto framing = handshake_ ? WebsocketFramingOf(response.content_type) : std::nullopt;
  if (response.stream && framing)
    StartWebsocket(std::move(response), *framing);
  else if (response.stream)
    StartStream(std::move(response));
  else
    SendPlain(std::move(response));
  handshake_ = nullptr;
  ArmReadDeadline();
}

void Connection::SendPlain(Response response) {
  phase_ = Phase::kSending;
  server_.sending.fetch_add(1);
  bool with_body = MayHaveBody(response.code) && head_.method != "HEAD";
  if (with_body && !unsent_share_.Resize(response.body.size()))
    response = StatusResponse(TooMuchUnsent(head_.method, response));
  ResponseHeadOptions options = HeadOptions(MayHaveBody(response.code) ? BodyEnd::kLength : BodyEnd::kNoBody);
  options.content_length = response.body.size();
  std::string text = FormatResponseHead(response, options);
  std::size_t first = with_body ? std::min(response.body.size(), kPieceBytes) : 0;
  text.append(response.body, 0, first);
  if (with_body && first < response.body.size()) {
    rest_ = std::move(response.body);
    rest_begin_ = first;
  }
  if (Write(text)) SendRest();
}

void Connection::SendRest() {
  while (rest_begin_ < rest_.size()) {
    std::string_view piece = std::string_view(rest_).substr(rest_begin_, kPieceBytes);
    rest_begin_ += piece.size();
    if (!Write(piece)) return;
  }
  std::string().swap(rest_);
  rest_begin_ = 0;
  server_.sending.fetch_sub(1);
  FinishAnswer();
}

void Connection::StartStream(Response response) {
  bool chunked = head_.minor_version > 0;
  if (!chunked) close_ = true;
  BodyEnd end = chunked ? BodyEnd::kChunks : BodyEnd::kConnectionClose;
  std::string text = FormatResponseHead(response, HeadOptions(end));
  if (head_.method == "HEAD") response.stream = nullptr;
  SendHeadAndStream(text, std::move(response), chunked ? StreamFraming::kChunks : StreamFraming::kNone);
}

void Connection::SendHeadAndStream(const std::string& head, Response response, StreamFraming framing) {
  phase_ = Phase::kStreaming;
  server_.streams.fetch_add(1);
  stream_ended_ = response.stream == nullptr;
  auto run = [weak = weak_from_this()] {
    if (auto self = weak.lock()) self->PumpStream();
  };
  if (!stream_ended_) {
    stream_ = std::make_shared<StreamPump>(std::move(response.stream), framing,
                                           std::move(response.stream_busy), loop_, std::move(run));
    stream_->Start();
  }
  if (Write(head)) EndPiece();
}

void Connection::PumpStream() {
  if (phase_ != Phase::kStreaming || flush_pending_ || stream_ == nullptr) return;
  // Data that is sent after the client ended its TLS session is lost.
  if (!tcp_->connected()) return tcp_->forceClose();
  now_ = server_.now();
  thread_local std::string buffer;
  std::string_view frame;
  ResponseStream::State state = stream_->Next(kStreamPieceBytes, buffer, frame);
  stream_ended_ = state == ResponseStream::State::kEnd;
  if (frame.empty() && state == ResponseStream::State::kOpen) return;
  if (!unsent_share_.Resize(frame.size())) return tcp_->forceClose();
  bool flushed = Write(frame);
  if (tcp_ == nullptr) return;
  if (buffer.capacity() > 4 * kStreamPieceBytes) std::string().swap(buffer);
  // Close in the middle of the body, so that the client does not mistake it for a regular end of the stream.
  if (state == ResponseStream::State::kCut) return tcp_->forceClose();
  if (flushed) EndPiece();
}

void Connection::EndPiece() {
  unsent_share_.Reset();
  if (websocket_ && !stream_ended_ && !SendWebsocketReply()) return;
  // Continue after the other connections of this loop have had their turn.
  if (!stream_ended_) return stream_->Wake();
  StopStream();
  FinishAnswer();
}

void Connection::StopStream() {
  if (phase_ == Phase::kStreaming) server_.streams.fetch_sub(1);
  if (stream_ != nullptr) stream_->Stop();
  stream_ = nullptr;
}

bool Connection::Write(std::string_view text) {
  std::size_t before = tcp_->bytesSent();
  tcp_->send(text.data(), text.size());
  // send() closes the connection if it detects that the client is gone. OnClosed() then resets tcp_.
  if (tcp_ == nullptr) return false;
  if (!tcp_->isSSLConnection() && tcp_->bytesSent() - before == text.size()) return true;
  return AwaitFlush();
}

// The library does not report when it has sent everything. It sends its queue in order, though, and asks a
// stream for data when it reaches that stream. So an empty stream at the end of the queue is called when
// everything before it has been sent.
bool Connection::AwaitFlush() {
  flush_pending_ = true;
  in_await_ = true;
  tcp_->sendStream([weak = weak_from_this()](char* buffer, std::size_t) -> std::size_t {
    auto self = weak.lock();
    if (buffer == nullptr || self == nullptr) return 0;  // the stream or the connection is being destroyed
    // The library is iterating over its queue, so this callback must not send.
    if (self->in_await_)
      self->flush_pending_ = false;
    else
      self->loop_->queueInLoop([self] { self->OnFlushed(); });
    return 0;
  });
  in_await_ = false;
  if (!flush_pending_) return true;
  piece_due_ = now_ + kSendLimitsOfPiece * server_.options.send_limit;
  NoteProgress();
  ArmSendDeadline();
  return false;
}

void Connection::NoteProgress() {
  sent_at_check_ = tcp_->bytesSent();
  stalled_due_ = now_ + server_.options.send_limit;
}

// The library does not report progress either. Checks in between keep a client that stops reading just after
// a check from having twice as long.
void Connection::ArmSendDeadline() {
  SetDeadline(std::min({now_ + server_.options.send_limit / kProgressChecks, stalled_due_, piece_due_}));
}

void Connection::OnFlushed() {
  now_ = server_.now();
  flush_pending_ = false;
  SetDeadline(SteadyTime::max());
  if (phase_ == Phase::kSending)
    SendRest();
  else if (phase_ == Phase::kStreaming)
    EndPiece();
  ArmReadDeadline();
}

void Connection::FinishAnswer() {
  unsent_share_.Reset();
  if (close_) {
    // Shut down the sending side only, because the client may still be sending. If the server closed the
    // socket now, the kernel would reset the connection, and the client could lose the unread part of the
    // response.
    phase_ = Phase::kLingering;
    SetDeadline(now_ + server_.options.linger_limit);
    return tcp_->shutdown();
  }
  BeginIdle();
  ReadWaiting();
}

}  // namespace terrarium::apiserver
