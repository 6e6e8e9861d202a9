#include "controllers/node_lifecycle/internal/zones.h"

#include <algorithm>
#include <cmath>

namespace terrarium::controllers {

using api::Duration;
using api::Time;

namespace {

constexpr double kRate = 0.1;
constexpr double kSlowRate = 0.01;
constexpr int kLargeZone = 50;
constexpr int kNotReadyMin = 3;
constexpr double kUnhealthyShare = 0.55;

template <typename Map>
bool AllDown(const Map& states) {
  return std::all_of(states.begin(), states.end(),
                     [](const auto& entry) { return entry.second == ZoneState::kFullDisruption; });
}

}  // namespace

ZoneState StateOf(const ZoneCount& count) {
  if (count.ready == 0 && count.not_ready > 0) return ZoneState::kFullDisruption;
  if (count.not_ready >= kNotReadyMin && count.not_ready >= kUnhealthyShare * count.size())
    return ZoneState::kPartialDisruption;
  return ZoneState::kNormal;
}

double RateOf(ZoneState state, int zone_size) {
  if (state != ZoneState::kPartialDisruption) return kRate;
  return zone_size > kLargeZone ? kSlowRate : 0;
}

TaintQueue::TaintQueue(Time now) : rate_(kRate), counted_at_(now) {}

void TaintQueue::Add(const std::string& node) {
  if (!Contains(node)) waiting_.push_back(node);
}

void TaintQueue::Remove(const std::string& node) { std::erase(waiting_, node); }

bool TaintQueue::Contains(const std::string& node) const {
  return std::find(waiting_.begin(), waiting_.end(), node) != waiting_.end();
}

double TaintQueue::TokensAt(Time now) const {
  const double seconds = std::chrono::duration<double>(now - counted_at_).count();
  return std::min(1.0, tokens_ + seconds * rate_);
}

void TaintQueue::SetRate(double per_second, Time now) {
  if (per_second == rate_) return;
  const bool had_token = rate_ > 0 && TokensAt(now) >= 1;
  rate_ = per_second;
  tokens_ = had_token ? 1 : 0;
  counted_at_ = now;
}

std::optional<std::string> TaintQueue::TryTake(Time now) {
  auto next = NextAt(now);
  if (!next || *next > now) return std::nullopt;
  tokens_ = 0;
  counted_at_ = now;
  std::string node = std::move(waiting_.front());
  waiting_.pop_front();
  return node;
}

std::optional<Time> TaintQueue::NextAt(Time now) const {
  if (waiting_.empty() || rate_ <= 0) return std::nullopt;
  const double missing = 1 - TokensAt(now);
  // Half a microsecond is nothing to wait for: sums of fractions are not exact.
  if (missing / rate_ < 0.5e-6) return now;
  return now + Duration(static_cast<std::int64_t>(std::ceil(missing / rate_ * 1e6)));
}

TaintQueue& Zones::QueueOf(const std::string& zone, Time now) {
  states_.emplace(zone, ZoneState::kInitial);
  return queues_.try_emplace(zone, now).first->second;
}

Zones::Turn Zones::Update(const std::map<std::string, ZoneCount>& counts, Time now) {
  std::map<std::string, ZoneState> next;
  for (const auto& [zone, count] : counts) {
    QueueOf(zone, now);
    next[zone] = StateOf(count);
  }
  std::erase_if(states_, [&](const auto& entry) { return !counts.contains(entry.first); });
  const bool were_down = AllDown(states_);
  const bool are_down = AllDown(next);
  if (were_down && are_down) return Turn::kNone;
  states_ = next;
  for (const auto& [zone, count] : counts)
    queues_.at(zone).SetRate(are_down ? 0 : RateOf(next.at(zone), count.size()), now);
  if (are_down) return Turn::kAllDown;
  return were_down ? Turn::kNotAllDown : Turn::kNone;
}

}  // namespace terrarium::controllers
