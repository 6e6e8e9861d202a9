#include "controllers/runtime/internal/event_correlator.h"

#include <algorithm>
#include <chrono>
#include <initializer_list>

namespace terrarium::controllers {
namespace {

constexpr std::size_t kDifferentMessages = 10;
constexpr api::Duration kSimilarFor = std::chrono::minutes(10);
constexpr double kBurst = 25;
constexpr double kPerSecond = 1.0 / 300;

void Append(std::string& key, std::initializer_list<std::string_view> words) {
  for (std::string_view word : words) key.append(word).push_back('\0');
}

// Each key is a prefix of the next one. The uid comes first, since it makes most comparisons end early.
struct Keys {
  explicit Keys(const ObservedEvent& event) {
    const ObjectReference& about = event.about;
    text.reserve(256 + event.message.size());
    Append(text, {about.uid, event.source.component, event.source.host, about.kind, about.ns, about.name,
                  about.api_version, event.type});
    source_length = text.size();
    Append(text, {event.reason});
    similar_length = text.size();
    Append(text, {about.field_path, event.message});
  }
  std::string_view source() const { return std::string_view(text).substr(0, source_length); }
  std::string_view similar() const { return std::string_view(text).substr(0, similar_length); }

  std::string text;
  std::size_t source_length = 0;
  std::size_t similar_length = 0;
};

}  // namespace

EventCorrelator::Outcome EventCorrelator::Observe(ObservedEvent& event, api::Time now) {
  Keys keys(event);
  Outcome outcome;
  outcome.combined = IsOneOfMany(keys.similar(), event.message, now);
  if (outcome.combined) event.message.insert(0, "(combined from similar events): ");
  // Counted even when it is not written: the next Event that is written reports the total.
  outcome.spam = IsTooMuch(keys.source(), now);
  if (outcome.combined) keys.text.resize(keys.similar_length);
  outcome.key = std::move(keys.text);
  Log& log = logs_[outcome.key];
  if (log.count++ == 0) log.first = now;
  return outcome;
}

bool EventCorrelator::IsOneOfMany(std::string_view similar_key, const std::string& message, api::Time now) {
  Similar& similar = similar_[similar_key];
  if (now - similar.last > kSimilarFor) similar.messages.clear();
  similar.last = now;
  auto& messages = similar.messages;
  if (std::find(messages.begin(), messages.end(), message) != messages.end()) return false;
  // The first nine messages keep their own Events (client-go forgets one of the ten at random).
  if (messages.size() + 1 >= kDifferentMessages) return true;
  messages.push_back(message);
  return false;
}

bool EventCorrelator::IsTooMuch(std::string_view source_key, api::Time now) {
  Budget& budget = budgets_[source_key];
  double refilled = std::chrono::duration<double>(now - budget.last).count() * kPerSecond;
  double tokens = budget.tokens ? std::min(kBurst, *budget.tokens + refilled) : kBurst;
  budget.last = now;
  const bool too_much = tokens < 1;
  budget.tokens = too_much ? tokens : tokens - 1;
  return too_much;
}

}  // namespace terrarium::controllers
