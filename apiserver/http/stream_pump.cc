#include "apiserver/http/stream_pump.h"

#include <trantor/net/EventLoop.h>

#include <utility>

namespace terrarium::apiserver {
namespace {

constexpr std::size_t kReadBytes = 256 * 1024;
// Size line and line ends around a chunk, on average.
constexpr std::size_t kChunkOverhead = 8;
// How often a client that does not keep up is looked at again; the library tells when a socket's buffer fills up, not
// when it has emptied.
constexpr double kBacklogRecheckSeconds = 0.02;

}  // namespace

void StreamRegistry::Add(const trantor::TcpConnection* connection, const std::shared_ptr<StreamPump>& pump) {
  std::lock_guard lock(mutex_);
  pumps_[connection] = pump;
}

void StreamRegistry::Remove(const trantor::TcpConnection* connection) {
  std::lock_guard lock(mutex_);
  pumps_.erase(connection);
}

void StreamRegistry::OnClosed(const trantor::TcpConnection* connection) {
  std::shared_ptr<StreamPump> pump;
  {
    std::lock_guard lock(mutex_);
    auto it = pumps_.find(connection);
    if (it == pumps_.end()) return;
    pump = std::move(it->second);
    pumps_.erase(it);
  }
  pump->Abandon();
}

std::size_t StreamRegistry::size() const {
  std::lock_guard lock(mutex_);
  return pumps_.size();
}

StreamPump::StreamPump(std::unique_ptr<ResponseStream> source, std::weak_ptr<trantor::TcpConnection> connection,
                       StreamRegistry& registry, std::size_t backlog_bytes_max,
                       std::function<std::shared_ptr<void>()> busy)
    : source_(std::move(source)),
      connection_(std::move(connection)),
      registry_(registry),
      backlog_bytes_max_(backlog_bytes_max),
      busy_(std::move(busy)) {}

void StreamPump::Start(drogon::ResponseStreamPtr sink) {
  auto connection = connection_.lock();
  if (connection == nullptr || !connection->connected()) return;
  loop_ = connection->getLoop();
  key_ = connection.get();
  sink_ = std::move(sink);
  sent_before_ = connection->bytesSent();
  registry_.Add(key_, shared_from_this());
  source_->SetWake([weak = weak_from_this()] {
    if (auto self = weak.lock()) self->Wake();
  });
  Wake();
}

void StreamPump::Wake() {
  if (scheduled_.exchange(true)) return;
  // Ends when the pump has run, or has found that its client does not keep up: nobody waits for such a client.
  std::shared_ptr<void> busy = busy_ ? busy_() : nullptr;
  loop_->queueInLoop([self = shared_from_this(), busy] {
    self->scheduled_ = false;
    self->Pump();
  });
}

std::size_t StreamPump::Backlog(const trantor::TcpConnection& connection) const {
  std::size_t taken = connection.bytesSent() - sent_before_;
  return given_ > taken ? given_ - taken : 0;
}

void StreamPump::Pump() {
  auto connection = connection_.lock();
  if (source_ == nullptr) return;
  if (connection == nullptr || !connection->connected()) return End();
  if (Backlog(*connection) > backlog_bytes_max_) {
    loop_->runAfter(kBacklogRecheckSeconds, [weak = weak_from_this()] {
      if (auto self = weak.lock()) self->Wake();
    });
    return;
  }
  buffer_.clear();
  ResponseStream::State state = source_->Read(kReadBytes, buffer_);
  if (!buffer_.empty()) {
    given_ += buffer_.size() + kChunkOverhead;
    if (!sink_->send(buffer_)) return End();
  }
  if (state == ResponseStream::State::kEnd) return End();
  if (state == ResponseStream::State::kCut) {
    connection->forceClose();  // before the sink writes its last chunk, which would look like an end in good order
    return End();
  }
  // There may be more, after others on this loop have had their turn.
  if (!buffer_.empty()) Wake();
  if (buffer_.capacity() > kReadBytes) std::string().swap(buffer_);
}

void StreamPump::End() {
  auto self = shared_from_this();  // the registry may hold the last reference
  registry_.Remove(key_);
  source_.reset();
  sink_.reset();  // writes the last chunk
}

void StreamPump::Abandon() {
  if (loop_ == nullptr) return;
  loop_->queueInLoop([self = shared_from_this()] {
    self->source_.reset();
    self->sink_.reset();
  });
}

}  // namespace terrarium::apiserver
