#include <algorithm>
#include <atomic>
#include <utility>

#include "api/base/errors.h"
#include "api/base/executor.h"
#include "api/base/prng.h"
#include "apiserver/internal/encode.h"
#include "apiserver/internal/listing.h"
#include "apiserver/internal/respond.h"
#include "apiserver/internal/verbs.h"
#include "apiserver/internal/wake_slot.h"
#include "apiserver/uptime.h"

namespace terrarium::apiserver {
namespace {

// The stream keeps those that it has taken and not sent yet. They are outside the limits of the store's
// buffer.
constexpr std::size_t kEventsPerTake = 32;
constexpr api::Duration kLastBookmarkBeforeEnd = std::chrono::seconds(2);

// State that the stream shares with its timers and the store's wake-up, which may outlive the stream.
struct Signals : WakeSlot {
  std::atomic<bool> timed_out = false;
  std::atomic<bool> bookmark_due = false;
};

// Encodes store events as frames of one client's watch. Read() runs on one thread at a time.
class WatchStream : public ResponseStream {
 public:
  WatchStream(CallPtr call, ListOptions options)
      : call_(std::move(call)),
        options_(std::move(options)),
        encoder_(call_),
        signals_(std::make_shared<Signals>()) {}

  ~WatchStream() override {
    for (api::TimerId id : {timeout_timer_, bookmark_timer_.load()})
      if (id != 0) call_->server.ConnectionExecutor().Cancel(id);
    signals_->Set(nullptr);
  }

  // The stream begins with all existing objects. If `mark_end`, a bookmark follows them.
  void StartFromList(storage::ListAndWatchResult start, bool mark_end) {
    initial_ = std::move(start.listing.items);
    initial_revision_ = start.listing.revision;
    mark_end_ = mark_end;
    watch_ = std::move(start.watch);
  }
  void StartFromRevision(std::unique_ptr<storage::Watch> watch) { watch_ = std::move(watch); }
  // The stream sends one error event and ends: Kubernetes reports an expired revision inside the stream.
  void StartWithError(api::Status status) { error_ = std::move(status); }

  void StartTimers() {
    api::Duration lifetime = Lifetime();
    end_ = call_->server.ConnectionClock().Now() + lifetime;
    timeout_timer_ = call_->server.ConnectionExecutor().PostInBackground(lifetime, [signals = signals_] {
      signals->timed_out = true;
      signals->Wake();
    });
    if (options_.allow_bookmarks) ArmBookmark();
  }

  State Read(std::size_t max_bytes, std::string& out) override;
  void SetWake(std::function<void()> wake) override {
    signals_->Set(std::move(wake));
    if (const auto& uptime = call_->resource().uptime; uptime != nullptr)
      listener_ = uptime->OnEnd([weak = std::weak_ptr(signals_)] {
        if (auto signals = weak.lock()) signals->Wake();
      });
    if (watch_ != nullptr) watch_->SetWake([signals = signals_] { signals->Wake(); });
  }

 private:
  // Watches without a time-out end at a random time, so that clients do not all reconnect at the same time.
  api::Duration Lifetime() const {
    if (options_.timeout_seconds && *options_.timeout_seconds > 0)
      return std::chrono::seconds(*options_.timeout_seconds);
    api::Duration least = call_->server.options.watch_timeout_min;
    auto extra = call_->server.env.prng.Below(static_cast<std::uint64_t>(least.count()) + 1);
    return least + api::Duration(extra);
  }

  // The stream sends a bookmark in each period and one shortly before its end, from which the client can
  // resume.
  void ArmBookmark() {
    api::Duration delay = call_->server.options.bookmark_period;
    api::Duration to_last = end_ - call_->server.ConnectionClock().Now() - kLastBookmarkBeforeEnd;
    if (to_last > api::Duration::zero()) delay = std::min(delay, to_last);
    bookmark_timer_ = call_->server.ConnectionExecutor().PostInBackground(delay, [signals = signals_] {
      signals->bookmark_due = true;
      signals->Wake();
    });
  }

  // The resource has left the registry. Read() sends all pending events before it ends the stream.
  bool IsNoLongerServed() const {
    const auto& uptime = call_->resource().uptime;
    return uptime != nullptr && uptime->ended();
  }

  void ReadInitial(std::size_t size_max, std::string& out);
  // Sends the taken events until `out` has `size_max` bytes.
  void ReadTaken(std::size_t size_max, std::string& out);
  void AppendEvent(const storage::Event& event, std::string& out);

  CallPtr call_;
  ListOptions options_;
  EventEncoder encoder_;
  std::shared_ptr<Signals> signals_;
  std::unique_ptr<storage::Watch> watch_;
  std::optional<api::Status> error_;
  std::vector<api::ObjectPtr> initial_;
  std::size_t initial_sent_ = 0;
  std::int64_t initial_revision_ = 0;
  bool mark_end_ = false;
  std::vector<storage::Event> taken_;
  std::size_t taken_sent_ = 0;
  api::Time end_{};
  api::TimerId timeout_timer_ = 0;
  std::atomic<api::TimerId> bookmark_timer_ = 0;
  std::unique_ptr<Uptime::Listener> listener_;  // waits until the resource is no longer served
};

void WatchStream::ReadInitial(std::size_t size_max, std::string& out) {
  for (; initial_sent_ < initial_.size() && out.size() < size_max; ++initial_sent_) {
    const api::ObjectPtr& object = initial_[initial_sent_];
    if (Matches(options_, *object)) encoder_.Append("ADDED", object, out);
  }
  if (initial_sent_ < initial_.size()) return;
  initial_.clear();
  initial_sent_ = 0;
  if (!mark_end_) return;
  encoder_.AppendBookmark(initial_revision_, true, out);
  mark_end_ = false;
}

// An object that starts to match the selectors is ADDED. An object that stops matching is DELETED, in its
// last matching state.
void WatchStream::AppendEvent(const storage::Event& event, std::string& out) {
  bool was_in = event.previous != nullptr && Matches(options_, *event.previous);
  bool is_in = event.type != storage::EventType::kDeleted && Matches(options_, *event.object);
  if (is_in) return encoder_.Append(was_in ? "MODIFIED" : "ADDED", event.object, out);
  if (!was_in) return;
  if (event.type == storage::EventType::kDeleted) return encoder_.Append("DELETED", event.object, out);
  encoder_.Append("DELETED", event.previous->AtRevision(event.revision()), out);
}

void WatchStream::ReadTaken(std::size_t size_max, std::string& out) {
  for (; taken_sent_ < taken_.size() && out.size() < size_max; ++taken_sent_)
    AppendEvent(std::exchange(taken_[taken_sent_], {}), out);
  if (taken_sent_ < taken_.size()) return;
  taken_.clear();
  taken_sent_ = 0;
}

ResponseStream::State WatchStream::Read(std::size_t max_bytes, std::string& out) {
  std::size_t size_max = out.size() + max_bytes;
  if (error_) {
    encoder_.AppendError(*error_, out);
    return State::kEnd;
  }
  if (!initial_.empty() || mark_end_) {
    ReadInitial(size_max, out);
    if (!initial_.empty()) return State::kOpen;
  }
  ReadTaken(size_max, out);
  while (out.size() < size_max) {
    storage::Watch::State state = watch_->Take(kEventsPerTake, taken_);
    if (!taken_.empty()) {
      ReadTaken(size_max, out);
      continue;
    }
    if (state == storage::Watch::State::kOverflow)
      // The client was too slow. Like Kubernetes, end the watch without an error event; the client resumes
      // from the last revision that it received.
      return State::kEnd;
    if (state == storage::Watch::State::kClosed || signals_->timed_out || IsNoLongerServed())
      return State::kEnd;
    if (signals_->bookmark_due.exchange(false)) {
      encoder_.AppendBookmark(watch_->DeliveredRevision(), false, out);
      ArmBookmark();
    }
    break;
  }
  return State::kOpen;
}

storage::WatchQuery MakeQuery(const Call& call, const ListOptions& options) {
  storage::WatchQuery query;
  query.resource = call.resource().storage;
  if (!call.route.ns.empty()) query.ns = call.route.ns;
  if (!call.route.name.empty())
    query.name = call.route.name;
  else
    query.name = options.fields.RequiresExactMatch("metadata.name");
  query.buffer_events = call.server.options.watch_buffer_events;
  query.buffer_bytes = call.server.options.watch_buffer_bytes;
  return query;
}

// Sends initial events to clients that ask for them, and by default to clients that give no revision, since
// those do not know the existing objects.
void Start(const CallPtr& call, const ListOptions& options, WatchStream& stream) {
  storage::Store& store = call->server.store;
  storage::WatchQuery query = MakeQuery(*call, options);
  std::int64_t revision = options.resource_version.value_or(0);
  bool initial = options.send_initial_events.value_or(revision == 0);
  if (initial)
    return stream.StartFromList(store.ListAndWatch(query), options.send_initial_events.value_or(false));
  query.from_revision = revision > 0 ? revision : store.CurrentRevision();
  auto watch = store.StartWatch(query);
  if (!watch) return stream.StartWithError(watch.status());
  stream.StartFromRevision(std::move(*watch));
}

}  // namespace

void ServeWatch(const CallPtr& call) {
  auto options = ParseListOptions(call->request, call->resource(), true);
  if (!options) return RespondError(call, options.status());
  std::int64_t current = call->server.store.CurrentRevision();
  if (options->send_initial_events.value_or(false) && options->resource_version.value_or(0) > current)
    return RespondError(call, api::TooLargeResourceVersion(*options->resource_version, current));
  auto stream = std::make_unique<WatchStream>(call, *options);
  Start(call, *options, *stream);
  stream->StartTimers();
  Response response;
  response.content_type = call->output.ContentType(true);
  response.stream = std::move(stream);
  Answer(call, std::move(response));
}

}  // namespace terrarium::apiserver
