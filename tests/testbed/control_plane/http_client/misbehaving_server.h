#pragma once

// An HTTP(S) server on loopback that runs the test's script on each connection, byte by byte.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <openssl/ssl.h>

namespace terrarium::testbed {

class MisbehavingServer {
 public:
  class Connection {
   public:
    // The head and as much body as it announces; shorter if the client closed the connection.
    std::string ReadRequest();
    bool Send(std::string_view bytes);  // false: the client has closed the connection
    // Waits until the client has closed the connection, or the server ends. True if the client has closed it.
    bool WaitForClose();
    // Sends the piece repeatedly, with a pause between, until the client closes the connection or the server
    // ends.
    void Drip(std::string_view piece);
    // In ten pieces, with the same pause between.
    void SendSlowly(std::string_view bytes);
    // The first `first` bytes, then, after the pause, the rest.
    void SendInTwo(std::string_view bytes, std::size_t first);
    // The client sees a reset instead of an orderly close.
    void Reset();
    // Under TLS, sends close_notify.
    void SendCloseNotify();
    // The server name of the client's handshake; empty if absent.
    std::string ServerName() const;

   private:
    friend class MisbehavingServer;
    bool Pause();  // false: the client has closed the connection, or the server ends
    Connection(MisbehavingServer& server, int fd) : server_(server), fd_(fd) {}
    ~Connection();
    bool Handshake(SSL_CTX* context);
    std::string Read();  // empty: the client has closed the connection

    MisbehavingServer& server_;
    int fd_;
    SSL* ssl_ = nullptr;
  };
  using Script = std::function<void(Connection&)>;

  struct Options {
    SSL_CTX* tls = nullptr;  // nullptr: plain HTTP
    std::string address = "127.0.0.1";
  };

  explicit MisbehavingServer(Script script) : MisbehavingServer(std::move(script), Options{}) {}
  MisbehavingServer(Script script, Options options);
  ~MisbehavingServer();

  std::string port() const { return std::to_string(port_); }
  // The requests that ReadRequest has read, in order.
  std::vector<std::string> requests() const;

 private:
  void Accept();
  void Serve(int fd);

  const Script script_;
  const Options options_;
  int listen_fd_;
  int stop_fd_;  // stays readable once the server is to end
  std::uint16_t port_ = 0;
  mutable std::mutex mutex_;
  std::vector<std::string> requests_;  // under mutex_
  std::vector<std::thread> threads_;   // used by the accepting thread until it has ended
  std::thread acceptor_;
};

// Reads the request, sends this text, and closes the connection.
MisbehavingServer::Script AnswerWith(std::string text);

// A port of 127.0.0.1 on which no server listens.
class ClosedPort {
 public:
  ClosedPort();
  ~ClosedPort();
  std::string port() const { return std::to_string(port_); }

 private:
  int fd_;  // bound and not listening, so that no other program gets it
  std::uint16_t port_ = 0;
};

// A port of 127.0.0.1 on which connections are neither accepted nor refused.
class FullPort {
 public:
  FullPort();
  ~FullPort();
  std::string port() const { return std::to_string(port_); }

 private:
  std::vector<int> fds_;
  std::uint16_t port_ = 0;
};

}  // namespace terrarium::testbed
