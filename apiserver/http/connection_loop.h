#pragma once

// The connections of one event loop and the one timer they share. Used on that loop only.

#include <memory>
#include <optional>
#include <unordered_map>

#include <trantor/net/TcpConnection.h>

#include "apiserver/http/connection.h"
#include "apiserver/http/deadline_queue.h"
#include "apiserver/http/server_state.h"

namespace terrarium::apiserver {

class ConnectionLoop {
 public:
  // Both outlive it, and it outlives all work queued in `loop`.
  ConnectionLoop(trantor::EventLoop* loop, ServerState& server) : loop_(loop), server_(server) {}

  void Add(const trantor::TcpConnectionPtr& tcp);
  void Remove(const trantor::TcpConnectionPtr& tcp);

 private:
  void SetTimer(DeadlineQueue::Id id, SteadyTime due);
  void Arm();
  void OnTimer(SteadyTime due);

  trantor::EventLoop* const loop_;
  ServerState& server_;
  DeadlineQueue deadlines_;
  std::optional<SteadyTime> armed_;
  // By the address of the library's connection. Looked up by key only, never walked in order.
  std::unordered_map<DeadlineQueue::Id, std::shared_ptr<Connection>> connections_;
};

}  // namespace terrarium::apiserver
