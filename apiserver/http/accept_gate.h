#pragma once

// Counts connections from the moment they are accepted. The library reports a TLS connection only after
// its handshake, but the connection holds a descriptor before that. Thread-safe.

#include <chrono>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/http/deadline_queue.h"

namespace terrarium::apiserver {

class AcceptGate {
 public:
  AcceptGate(std::size_t connections_max, std::chrono::seconds handshake_limit)
      : connections_max_(connections_max), handshake_limit_(handshake_limit) {}

  // `peer` identifies a connection while it is open. False: too many connections are open, and the caller
  // closes this one.
  bool Enter(const std::string& peer, int fd, SteadyTime now);
  // Records that the handshake is done. False: Enter() refused the connection.
  bool Establish(const std::string& peer);
  // REQUIRES: the descriptor of the connection has not been closed yet.
  void Leave(const std::string& peer);
  // Shuts down the sockets whose handshake is overdue. Returns when to call again; nullopt: not before
  // another connection is accepted.
  std::optional<SteadyTime> EndLateHandshakes(SteadyTime now);
  std::size_t size() const;

 private:
  struct Entry {
    int fd;
    std::optional<SteadyTime> handshake_due;
  };

  const std::size_t connections_max_;
  const std::chrono::seconds handshake_limit_;
  mutable std::mutex mutex_;
  // A peer can have two entries: a client may reuse its port before the server notices that the first
  // connection was closed. Leave() removes the older entry.
  std::multimap<std::string, Entry> open_;
};

}  // namespace terrarium::apiserver
