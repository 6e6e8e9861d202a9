#include "apiserver/http/accept_gate.h"

#include <algorithm>

#include <sys/socket.h>

namespace terrarium::apiserver {

bool AcceptGate::Enter(const std::string& peer, int fd, SteadyTime now) {
  std::lock_guard lock(mutex_);
  if (open_.size() >= connections_max_) return false;
  open_.emplace(peer, Entry{fd, now + handshake_limit_});
  return true;
}

bool AcceptGate::Establish(const std::string& peer) {
  std::lock_guard lock(mutex_);
  auto [it, end] = open_.equal_range(peer);
  if (it == end) return false;
  (--end)->second.handshake_due.reset();
  return true;
}

void AcceptGate::Leave(const std::string& peer) {
  std::lock_guard lock(mutex_);
  auto it = open_.lower_bound(peer);
  if (it != open_.end() && it->first == peer) open_.erase(it);
}

std::optional<SteadyTime> AcceptGate::EndLateHandshakes(SteadyTime now) {
  std::lock_guard lock(mutex_);
  std::optional<SteadyTime> next;
  for (auto& [peer, entry] : open_) {
    if (!entry.handshake_due) continue;
    if (*entry.handshake_due > now) {
      next = next ? std::min(*next, *entry.handshake_due) : *entry.handshake_due;
      continue;
    }
    // The descriptor is still this connection's: Leave() comes before it is closed and waits for the lock.
    // The library reads the end of the stream and closes.
    shutdown(entry.fd, SHUT_RDWR);
    entry.handshake_due.reset();
  }
  return next;
}

std::size_t AcceptGate::size() const {
  std::lock_guard lock(mutex_);
  return open_.size();
}

}  // namespace terrarium::apiserver
