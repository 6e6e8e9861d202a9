#include <utility>

#include "apiserver/http/connection.h"

namespace terrarium::apiserver {

void Connection::StartWebsocket(Response response, StreamFraming framing) {
  // What the client has sent behind its request is not another request.
  close_ = true;
  if (handshake_->refusal) return SendPlain(std::move(*handshake_->refusal));
  const std::string head = std::move(handshake_->head);
  if (!unsent_share_.Resize(head.size())) return tcp_->forceClose();
  websocket_ = std::make_unique<WebsocketReader>();
  SendHeadAndStream(head, std::move(response), framing);
  ReadWaiting();
}

std::size_t Connection::ReadWebsocket(std::string_view input) {
  websocket_->Read(input);
  // The watch costs nothing any more, even if its client does not read what is on its way.
  if (websocket_->closed()) stream_->Stop();
  if (!flush_pending_ && websocket_->HasReply()) EndPiece();
  return input.size();
}

bool Connection::SendWebsocketReply() {
  const std::string reply = websocket_->TakeReply();
  stream_ended_ = websocket_->closed();
  return reply.empty() || Write(reply);
}

}  // namespace terrarium::apiserver
