#pragma once

// Carries one ResponseStream to its socket. Lives on the connection's event loop; woken from anywhere.

#include <drogon/HttpResponse.h>
#include <trantor/net/TcpConnection.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "apiserver/request.h"

namespace terrarium::apiserver {

class StreamPump;

// Streams by connection, so that a client that hangs up is noticed at once and not at its next event.
class StreamRegistry {
 public:
  void Add(const trantor::TcpConnection* connection, const std::shared_ptr<StreamPump>& pump);
  void Remove(const trantor::TcpConnection* connection);
  // Called by the server for every connection that closed.
  void OnClosed(const trantor::TcpConnection* connection);
  std::size_t size() const;

 private:
  mutable std::mutex mutex_;
  // Looked up by key only, never walked in order.
  std::unordered_map<const trantor::TcpConnection*, std::shared_ptr<StreamPump>> pumps_;
};

class StreamPump : public std::enable_shared_from_this<StreamPump> {
 public:
  // `busy` is Response::stream_busy.
  StreamPump(std::unique_ptr<ResponseStream> source, std::weak_ptr<trantor::TcpConnection> connection,
             StreamRegistry& registry, std::size_t backlog_bytes_max,
             std::function<std::shared_ptr<void>()> busy);

  // On the connection's loop, once the headers have been sent.
  void Start(drogon::ResponseStreamPtr sink);
  // On any thread: the client is gone.
  void Abandon();

 private:
  void Wake();
  void Pump();
  void End();
  // Bytes given to the connection and not yet taken by the kernel.
  std::size_t Backlog(const trantor::TcpConnection& connection) const;

  std::unique_ptr<ResponseStream> source_;
  std::weak_ptr<trantor::TcpConnection> connection_;
  const trantor::TcpConnection* key_ = nullptr;
  trantor::EventLoop* loop_ = nullptr;
  StreamRegistry& registry_;
  std::size_t backlog_bytes_max_;
  const std::function<std::shared_ptr<void>()> busy_;
  drogon::ResponseStreamPtr sink_;
  std::size_t sent_before_ = 0;  // by this connection, before the stream began
  std::size_t given_ = 0;
  std::string buffer_;
  std::atomic<bool> scheduled_ = false;
};

}  // namespace terrarium::apiserver
