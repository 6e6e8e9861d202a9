#pragma once

// A trantor connection without a socket. Sent data goes into `sent` while there is `room`. Further data waits
// in order, as in trantor: texts, and streams that are read when it is their turn.

#include <algorithm>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <trantor/net/EventLoop.h>
#include <trantor/net/TcpConnection.h>

namespace terrarium::apiserver {

class FakeTcp : public trantor::TcpConnection {
 public:
  explicit FakeTcp(trantor::EventLoop* loop) : loop_(loop) {}

  std::string sent;
  std::size_t room = std::numeric_limits<std::size_t>::max();
  bool shut_down = false;
  std::function<void()> on_close;  // called once, by forceClose()
  bool closed = false;

  // The client sends `text`. REQUIRES: setRecvMsgCallback() was called.
  void Receive(std::string_view text) {
    trantor::MsgBuffer buffer;
    buffer.append(text.data(), text.size());
    recvMsgCallback_(nullptr, &buffer);
  }
  // The client reads `bytes`.
  void MakeRoom(std::size_t bytes) {
    room += bytes;
    Flush();
  }
  std::size_t unsent_bytes() const {
    std::size_t out = 0;
    for (const Node& node : nodes_) out += node.text.size();
    return out;
  }

  void send(const char* text, std::size_t length) override {
    nodes_.push_back({std::string(text, length), nullptr});
    Flush();
  }
  void send(const void* text, std::size_t length) override { send(static_cast<const char*>(text), length); }
  void send(const std::string& text) override { send(text.data(), text.size()); }
  void send(std::string&& text) override { send(text.data(), text.size()); }
  void send(const trantor::MsgBuffer& buffer) override { send(buffer.peek(), buffer.readableBytes()); }
  void send(trantor::MsgBuffer&& buffer) override { send(buffer.peek(), buffer.readableBytes()); }
  void send(const std::shared_ptr<std::string>& text) override { send(*text); }
  void send(const std::shared_ptr<trantor::MsgBuffer>& buffer) override { send(*buffer); }
  void sendStream(std::function<std::size_t(char*, std::size_t)> callback) override {
    nodes_.push_back({"", std::move(callback)});
    Flush();
  }
  void shutdown() override { shut_down = true; }
  void forceClose() override {
    if (std::exchange(closed, true)) return;
    nodes_.clear();
    if (on_close) on_close();
  }
  std::size_t bytesSent() const override { return sent.size(); }
  trantor::EventLoop* getLoop() override { return loop_; }
  bool connected() const override { return !closed; }
  bool disconnected() const override { return closed; }
  bool isSSLConnection() const override { return false; }
  trantor::CertificatePtr peerCertificate() const override { return nullptr; }

  void sendFile(const char*, long long, long long) override {}
  void sendFile(const wchar_t*, long long, long long) override {}
  trantor::AsyncStreamPtr sendAsyncStream(bool) override { return nullptr; }
  const trantor::InetAddress& localAddr() const override { return address_; }
  const trantor::InetAddress& peerAddr() const override { return address_; }
  void setHighWaterMarkCallback(const trantor::HighWaterMarkCallback&, std::size_t) override {}
  void setTcpNoDelay(bool) override {}
  std::string applicationProtocol() const override { return ""; }
  void keepAlive() override {}
  bool isKeepAlive() override { return false; }
  std::size_t bytesReceived() const override { return 0; }
  trantor::MsgBuffer* getRecvBuffer() override { return nullptr; }
  std::string sniName() const override { return ""; }
  void startEncryption(trantor::TLSPolicyPtr, bool,
                       std::function<void(const trantor::TcpConnectionPtr&)>) override {}
  void connectEstablished() override {}
  void connectDestroyed() override {}
  void enableKickingOff(std::size_t, const std::shared_ptr<trantor::TimingWheel>&) override {}
  void forwardToTLSBuffer(trantor::MsgBuffer*) override {}

 private:
  struct Node {
    std::string text;
    std::function<std::size_t(char*, std::size_t)> stream;
  };

  void Flush() {
    char buffer[64];
    while (!nodes_.empty()) {
      Node& node = nodes_.front();
      std::size_t taken = std::min(room, node.text.size());
      sent.append(node.text, 0, taken);
      node.text.erase(0, taken);
      room -= taken;
      if (!node.text.empty()) return;
      auto stream = std::move(node.stream);
      if (stream) stream(buffer, sizeof buffer);
      nodes_.pop_front();
    }
  }

  trantor::EventLoop* loop_;
  trantor::InetAddress address_;
  std::deque<Node> nodes_;
};

}  // namespace terrarium::apiserver
