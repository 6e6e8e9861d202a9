#pragma once

// The stream of a response within the scope of its request: it ends when one of the request's groups ends its
// streams, and an exception in it ends it alone. Thread-safe, with Read() on one thread at a time.

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "apiserver/request.h"
#include "apiserver/request_group.h"

namespace terrarium::apiserver {

class ScopedStream : public std::enable_shared_from_this<ScopedStream> {
 public:
  // Wraps `stream`. `what` names the request in the log. `held` and `groups` are released when the stream
  // ends, after `stream` itself.
  static std::unique_ptr<ResponseStream> Wrap(std::unique_ptr<ResponseStream> stream, std::string what,
                                              std::vector<std::shared_ptr<void>> held,
                                              std::vector<RequestGroupPtr> groups);

  ResponseStream::State Read(std::size_t max_bytes, std::string& out);
  void SetWake(std::function<void()> wake);
  // Destroys the stream, and wakes its reader to read `state`. Returns when no reader is inside the stream.
  void End(ResponseStream::State state);
  // The same without waking the reader, which is gone.
  void Close();

 private:
  bool HasEnded();
  // REQUIRES: mutex_ is held.
  void Release(ResponseStream::State state);

  std::mutex mutex_;
  // All guarded by mutex_. A group's mutex may be taken while this one is held, never the other way round.
  std::unique_ptr<ResponseStream> stream_;  // nullptr: ended
  ResponseStream::State state_ = ResponseStream::State::kOpen;
  std::function<void()> wake_;
  std::string what_;
  std::vector<RequestGroupPtr> groups_;
  std::vector<std::shared_ptr<void>> held_;
};

}  // namespace terrarium::apiserver
