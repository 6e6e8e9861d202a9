#pragma once

// Keeps a busy source from flooding the apiserver with Events: repeated ones are counted, similar ones are
// combined, and excess ones are dropped. Mirrors the rules and limits of client-go
// tools/record/events_cache.go (0.36).

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/clock.h"
#include "controllers/runtime/event_recorder.h"
#include "controllers/runtime/internal/lru_map.h"

namespace terrarium::controllers {

struct ObservedEvent {
  EventRecorder::Source source;
  ObjectReference about;
  std::string_view type;
  std::string reason;
  std::string message;
};

class EventCorrelator {
 public:
  // An Event that has been written or will be.
  struct Log {
    int count = 0;
    api::Time first{};
    std::string name;
  };
  struct Outcome {
    std::string key;  // of the Event that reports it
    // Combined with similar ones: the message has the prefix "(combined from similar events)", and the Event
    // omits the reporter.
    bool combined = false;
    bool spam = false;  // dropped, not written
  };

  // Counts the event under its key, and changes its message if it is combined with others.
  Outcome Observe(ObservedEvent& event, api::Time now);
  // The log of a key; nullptr when it has been evicted. Valid until the next call.
  Log* Find(std::string_view key) { return logs_.Find(key); }

 private:
  static constexpr std::size_t kRemembered = 4096;

  struct Similar {
    std::vector<std::string> messages;  // different ones
    api::Time last{};
  };
  struct Budget {
    std::optional<double> tokens;
    api::Time last{};
  };

  // True when there have been so many different messages recently that this one is combined with others.
  bool IsOneOfMany(std::string_view similar_key, const std::string& message, api::Time now);
  bool IsTooMuch(std::string_view source_key, api::Time now);

  LruMap<Similar> similar_{kRemembered};
  LruMap<Log> logs_{kRemembered};
  LruMap<Budget> budgets_{kRemembered};
};

}  // namespace terrarium::controllers
