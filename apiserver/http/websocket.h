#pragma once

// A watch over a websocket (RFC 6455) as kube-apiserver 1.36 serves it: the handshake, the server's frames,
// and a reader of the client's frames. Without sockets.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/http/request_head.h"
#include "apiserver/request.h"

namespace terrarium::apiserver {

// The values are those of the frames.
enum class WebsocketOpcode : std::uint8_t {
  kContinuation = 0,
  kText = 1,
  kBinary = 2,
  kClose = 8,
  kPing = 9,
  kPong = 10,
};

// The status codes of close frames that the server sends.
enum class WebsocketCloseCode : std::uint16_t { kNormal = 1000, kProtocolError = 1002 };

// A client's request for a websocket.
struct WebsocketHandshake {
  std::string head;                 // of the response that accepts it
  std::optional<Response> refusal;  // a response in place of the websocket
};

// nullptr: the client requests no websocket. Only the response decides whether it gets one.
std::unique_ptr<WebsocketHandshake> ReadWebsocketHandshake(const RequestHead& head);

// The Sec-WebSocket-Accept for a Sec-WebSocket-Key.
std::string WebsocketAccept(std::string_view key);

// Appends an unmasked frame that is a whole message.
void AppendWebsocketFrame(WebsocketOpcode opcode, std::string_view payload, std::string& out);
void AppendWebsocketClose(WebsocketCloseCode code, std::string& out);

// Reads what a client of a watch sends: replies to pings and to a close, and ignores messages. Keeps at most
// one ping (125 bytes), whatever the client sends.
class WebsocketReader {
 public:
  // Ignores everything behind the first close or invalid frame.
  void Read(std::string_view input);
  // The client has closed, or has sent an invalid frame. TakeReply() then ends with a close frame.
  bool closed() const { return close_.has_value(); }
  bool HasReply() const { return ping_ || (close_ && !close_taken_); }
  // The frames to send now. Of several pings only the last one is answered (RFC 6455, 5.5.3).
  std::string TakeReply();

 private:
  std::size_t ReadHeader(std::string_view input);
  std::size_t ReadPayload(std::string_view input);
  // False: no valid frame begins with these two bytes.
  bool CheckStart();
  void BeginPayload();
  void EndFrame();

  std::string header_;  // what has arrived of the current frame's
  bool in_payload_ = false;
  WebsocketOpcode opcode_{};
  std::uint64_t left_ = 0;   // of the payload
  bool in_message_ = false;  // more frames of a message follow
  std::string partial_ping_;
  std::optional<std::string> ping_;
  std::optional<WebsocketCloseCode> close_;
  bool close_taken_ = false;
};

}  // namespace terrarium::apiserver
