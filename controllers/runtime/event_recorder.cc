#include "controllers/runtime/event_recorder.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include "api/base/check.h"
#include "api/base/clock.h"
#include "api/base/executor.h"
#include "api/base/prng.h"
#include "controllers/runtime/internal/event_correlator.h"

namespace terrarium::controllers {
namespace {

using api::Json;

// The most writes in flight. The limit bounds memory when the apiserver does not keep up.
constexpr std::size_t kWritesMax = 10'000;
// How often the recorder retries with another name after AlreadyExists.
constexpr int kNamesMax = 5;
// How often, and after how long, an Event is sent again while the apiserver is unavailable, as in client-go.
constexpr int kTriesMax = 12;
constexpr api::Duration kTryAgain = std::chrono::seconds(10);

// Labels of lower-case letters, digits and inner dashes, separated by dots.
bool IsDnsSubdomain(std::string_view name) {
  if (name.empty() || name.size() > 253) return false;
  auto is_letter_or_digit = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  char before = '.';
  for (char c : name) {
    if (c == '.' || c == '-') {
      // A label neither begins nor ends with a dash, and is not empty.
      if (before == '.' || (c == '.' && before == '-')) return false;
    } else if (!is_letter_or_digit(c)) {
      return false;
    }
    before = c;
  }
  return is_letter_or_digit(before);
}

bool IsNamespaceTerminating(const api::Status& status) {
  if (!status.details) return false;
  return std::any_of(status.details->causes.begin(), status.details->causes.end(),
                     [](const api::StatusCause& cause) { return cause.reason == "NamespaceTerminating"; });
}

// An Event to write.
struct Event {
  ObservedEvent observed;
  bool combined = false;
  int count = 1;
  api::Time first{};
  api::Time last{};
  std::string ns;
  std::string name;
};

void SetUnlessEmpty(Json& object, const char* key, const std::string& value) {
  if (!value.empty()) object[key] = value;
}

// Members are added in their sorted order, which is cheapest: there are thousands of events in a second.
Json InvolvedObject(const ObjectReference& about) {
  Json object = Json::object();
  SetUnlessEmpty(object, "apiVersion", about.api_version);
  SetUnlessEmpty(object, "fieldPath", about.field_path);
  SetUnlessEmpty(object, "kind", about.kind);
  SetUnlessEmpty(object, "name", about.name);
  SetUnlessEmpty(object, "namespace", about.ns);
  SetUnlessEmpty(object, "resourceVersion", about.resource_version);
  SetUnlessEmpty(object, "uid", about.uid);
  return object;
}

Json NewDocument(const Event& event) {
  const EventRecorder::Source& source = event.observed.source;
  Json document = Json::object();
  document["count"] = event.count;
  document["firstTimestamp"] = api::FormatTime(event.first);
  document["involvedObject"] = InvolvedObject(event.observed.about);
  document["lastTimestamp"] = api::FormatTime(event.last);
  document["message"] = event.observed.message;
  Json& metadata = document["metadata"];
  metadata["name"] = event.name;
  metadata["namespace"] = event.ns;
  document["reason"] = event.observed.reason;
  // client-go omits these in a combined event.
  document["reportingComponent"] = event.combined ? "" : source.component;
  document["reportingInstance"] = event.combined ? "" : source.host;
  Json& from = document["source"] = Json::object();
  SetUnlessEmpty(from, "component", source.component);
  SetUnlessEmpty(from, "host", source.host);
  document["type"] = event.observed.type;
  return document;
}

Json CountPatch(const Event& event) {
  return {{"count", event.count},
          {"lastTimestamp", api::FormatTime(event.last)},
          {"message", event.observed.message}};
}

}  // namespace

ObjectReference ReferenceTo(const api::Object& object, std::string_view api_version, std::string_view kind) {
  const api::ObjectHeader& header = object.header();
  return {.api_version = std::string(api_version),
          .kind = std::string(kind),
          .ns = header.ns,
          .name = header.name,
          .uid = header.uid,
          .resource_version = std::to_string(header.revision)};
}

ObjectReference ReferenceToPod(const api::Object& pod) { return ReferenceTo(pod, "v1", "Pod"); }

class EventRecorder::Impl : public std::enable_shared_from_this<EventRecorder::Impl> {
 public:
  Impl(const api::Env& env, api::Client& client)
      : env_(env), client_(client), nanoseconds_offset_(static_cast<std::int64_t>(env.prng.Below(1000))) {}

  // Events are written on the recorder's own lane, but carry the time of this call.
  void Post(ObservedEvent observed) {
    env_.executor.Post(
        [weak = weak_from_this(), observed = std::move(observed), now = env_.clock.Now()]() mutable {
          if (auto self = weak.lock()) self->Record(std::move(observed), now);
        });
  }

 private:
  void Record(ObservedEvent observed, api::Time now) {
    EventCorrelator::Outcome outcome = correlator_.Observe(observed, now);
    EventCorrelator::Log& log = *correlator_.Find(outcome.key);
    if (log.count == 1) log.name = NewName(observed.about.name);
    if (outcome.spam) return;
    Event event{.observed = std::move(observed),
                .combined = outcome.combined,
                .count = log.count,
                .first = log.first,
                .last = now,
                .ns = {},
                .name = log.name};
    event.ns = event.observed.about.ns.empty() ? "default" : event.observed.about.ns;
    Submit(std::move(outcome.key), std::move(event));
  }

  struct Write {
    std::string key;
    Event event;
    bool patch = false;
    int names_left = kNamesMax;
    int tries = 0;
    // The same Event, observed again meanwhile; its count includes the earlier ones.
    std::optional<Event> next;
  };
  using WritePtr = std::shared_ptr<Write>;

  // The object's name and the time in hexadecimal nanoseconds. The control plane's clock counts microseconds
  // and may stand still. The offset and the increment make names unique within this recorder, and mostly
  // unique among recorders.
  std::string NewName(const std::string& object) {
    const std::int64_t now = env_.clock.Now().time_since_epoch().count() * 1000 + nanoseconds_offset_;
    last_nanoseconds_ = std::max(now, last_nanoseconds_ + 1);
    std::string name = fmt::format("{}.{:x}", object, last_nanoseconds_);
    return IsDnsSubdomain(name) ? name : env_.prng.Uuid();
  }

  // Writes of one Event are sequential: an update of the count must not overtake the creation.
  void Submit(std::string key, Event event) {
    if (auto under_way = writes_.find(key); under_way != writes_.end()) {
      under_way->second->next = std::move(event);
      return;
    }
    if (writes_.size() >= kWritesMax) {
      if (dropped_++ == 0)
        env_.log.warn("too many events are being written; dropping events until some are done");
      return;
    }
    auto write = std::make_shared<Write>();
    write->key = std::move(key);
    writes_.emplace(write->key, write);
    Begin(write, std::move(event));
  }

  void Begin(const WritePtr& write, Event event) {
    write->patch = event.count > 1;
    write->names_left = kNamesMax;
    write->tries = 0;
    write->event = std::move(event);
    Send(write);
  }

  void Send(const WritePtr& write) {
    const Event& event = write->event;
    api::WriteRequest request;
    request.verb = write->patch ? api::WriteRequest::Verb::kPatch : api::WriteRequest::Verb::kCreate;
    request.resource = "events";
    request.object.ns = event.ns;
    if (write->patch) request.object.name = event.name;
    request.body = write->patch ? CountPatch(event) : NewDocument(event);
    client_.Send(std::move(request), [weak = weak_from_this(), write](api::Client::Written written) {
      if (auto self = weak.lock()) self->Written(write, written);
    });
  }

  void SendLater(const WritePtr& write) {
    env_.executor.PostAfter(kTryAgain, [weak = weak_from_this(), write] {
      if (auto self = weak.lock()) self->Send(write);
    });
  }

  void Written(const WritePtr& write, const api::Client::Written& written) {
    if (!written.ok()) {
      const api::Status& status = written.status();
      // Events expire after an hour.
      if (write->patch && status.Is(api::reason::kNotFound)) {
        write->patch = false;
        return Send(write);
      }
      if (!write->patch && status.Is(api::reason::kAlreadyExists) && write->names_left-- > 0) {
        Rename(*write);
        return Send(write);
      }
      if (status.Is(api::reason::kServiceUnavailable) && ++write->tries < kTriesMax) return SendLater(write);
      LogRejected(write->event, status);
    }
    if (write->next) return Begin(write, *std::exchange(write->next, std::nullopt));
    writes_.erase(write->key);
    if (writes_.empty()) LogDropped();
  }

  void Rename(Write& write) {
    const std::string taken = std::exchange(write.event.name, NewName(write.event.observed.about.name));
    if (write.next && write.next->name == taken) write.next->name = write.event.name;
    EventCorrelator::Log* log = correlator_.Find(write.key);
    if (log != nullptr && log->name == taken) log->name = write.event.name;
  }

  void LogRejected(const Event& event, const api::Status& status) {
    const bool usual = status.Is(api::reason::kAlreadyExists) || IsNamespaceTerminating(status);
    env_.log.log(usual ? spdlog::level::debug : spdlog::level::warn,
                 "event {} about {} {}/{} was not written: {}", event.observed.reason,
                 event.observed.about.kind, event.ns, event.observed.about.name, status.message);
  }

  void LogDropped() {
    if (dropped_ > 0) env_.log.warn("{} events were dropped", dropped_);
    dropped_ = 0;
  }

  api::Env env_;
  api::Client& client_;
  EventCorrelator correlator_;
  const std::int64_t nanoseconds_offset_;
  std::int64_t last_nanoseconds_ = 0;
  std::map<std::string_view, WritePtr> writes_;  // in flight; each key is a view into its write
  std::size_t dropped_ = 0;
};

EventRecorder::EventRecorder(const api::Env& env, api::Client& client)
    : impl_(std::make_shared<Impl>(env, client)) {}
EventRecorder::~EventRecorder() = default;

void EventRecorder::Record(const Source& source, const ObjectReference& about, std::string_view type,
                           std::string_view reason, std::string message) {
  CHECK(type == kNormal || type == kWarning);
  ObservedEvent observed{.source = source,
                         .about = about,
                         .type = type == kNormal ? kNormal : kWarning,
                         .reason = std::string(reason),
                         .message = std::move(message)};
  impl_->Post(std::move(observed));
}

}  // namespace terrarium::controllers
