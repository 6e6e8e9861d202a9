#include "apiserver/http/connection_loop.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include <trantor/net/EventLoop.h>

namespace terrarium::apiserver {
namespace {

DeadlineQueue::Id IdOf(const trantor::TcpConnectionPtr& tcp) {
  return static_cast<DeadlineQueue::Id>(reinterpret_cast<std::uintptr_t>(tcp.get()));
}

}  // namespace

void ConnectionLoop::Add(const trantor::TcpConnectionPtr& tcp) {
  DeadlineQueue::Id id = IdOf(tcp);
  auto set_timer = [this, id](SteadyTime due) { SetTimer(id, due); };
  auto connection = std::make_shared<Connection>(server_, *tcp, set_timer);
  connections_[id] = connection;
  // Instead of Drogon's own parser.
  tcp->setRecvMsgCallback([connection](const trantor::TcpConnectionPtr&, trantor::MsgBuffer* buffer) {
    std::string_view input(buffer->peek(), buffer->readableBytes());
    connection->OnData(input);
    buffer->retrieveAll();
  });
  connection->OnOpened();
}

void ConnectionLoop::Remove(const trantor::TcpConnectionPtr& tcp) {
  DeadlineQueue::Id id = IdOf(tcp);
  deadlines_.Remove(id);
  auto it = connections_.find(id);
  if (it == connections_.end()) return;
  std::shared_ptr<Connection> connection = std::move(it->second);
  connections_.erase(it);
  connection->OnClosed();
}

void ConnectionLoop::SetTimer(DeadlineQueue::Id id, SteadyTime due) {
  deadlines_.Set(id, due);
  Arm();
}

void ConnectionLoop::Arm() {
  std::optional<SteadyTime> next = deadlines_.Next();
  if (!next || (armed_ && *armed_ <= *next)) return;
  armed_ = next;
  std::chrono::duration<double> delay = *next - server_.now();
  loop_->runAfter(std::max(delay.count(), 0.0), [this, due = *next] { OnTimer(due); });
}

void ConnectionLoop::OnTimer(SteadyTime due) {
  // Otherwise a timer for an earlier time was armed after this one, and that timer does the work.
  if (armed_ != due) return;
  armed_.reset();
  for (DeadlineQueue::Id id : deadlines_.TakeDue(server_.now())) {
    auto it = connections_.find(id);
    if (it == connections_.end()) continue;
    std::shared_ptr<Connection> connection = it->second;
    connection->OnTimer();
  }
  Arm();
}

}  // namespace terrarium::apiserver
