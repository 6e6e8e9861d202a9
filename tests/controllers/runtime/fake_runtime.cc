#include "tests/controllers/runtime/fake_runtime.h"

#include <algorithm>
#include <mutex>

#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include "api/base/check.h"

namespace terrarium::controllers_testing {
namespace {

constexpr int kPiecesMax = 1'000'000;

}  // namespace

class FakeRuntime::LogLines : public spdlog::sinks::base_sink<std::mutex> {
 public:
  std::vector<std::string> lines;

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    auto level = spdlog::level::to_string_view(message.level);
    lines.push_back(std::string(level.data(), level.size()) + ": " +
                    std::string(message.payload.data(), message.payload.size()));
  }
  void flush_() override {}
};

FakeRuntime::FakeRuntime()
    : lines_(std::make_shared<LogLines>()), log_(std::make_unique<spdlog::logger>("test", lines_)) {
  log_->set_level(spdlog::level::debug);
}
FakeRuntime::~FakeRuntime() = default;

api::Env FakeRuntime::env() { return {*this, *this, prng_, gates_, *log_}; }

api::TimerId FakeRuntime::PostTimer(api::TimerKind kind, api::Duration delay, std::function<void()> work) {
  api::TimerId id = next_id_++;
  api::Time due = now_ + std::max(delay, api::Duration::zero());
  timers_.emplace(std::pair(due, id), Timer{kind, std::move(work)});
  due_.emplace(id, due);
  return id;
}

bool FakeRuntime::Cancel(api::TimerId id) {
  auto it = due_.find(id);
  if (it == due_.end()) return false;
  timers_.erase({it->second, id});
  due_.erase(it);
  return true;
}

bool FakeRuntime::RunOne() {
  if (ready_.empty()) return false;
  std::function<void()> work = std::move(ready_.front());
  ready_.pop_front();
  work();
  return true;
}

void FakeRuntime::RunReady() {
  for (int pieces = 0; RunOne(); ++pieces) CHECK(pieces < kPiecesMax);
}

void FakeRuntime::Advance(api::Duration duration) {
  const api::Time end = now_ + duration;
  RunReady();
  while (!timers_.empty() && timers_.begin()->first.first <= end) {
    auto first = timers_.begin();
    now_ = first->first.first;
    std::function<void()> work = std::move(first->second.work);
    due_.erase(first->first.second);
    timers_.erase(first);
    work();
    RunReady();
  }
  now_ = end;
}

std::size_t FakeRuntime::timers(api::TimerKind kind) const {
  return static_cast<std::size_t>(std::count_if(
      timers_.begin(), timers_.end(), [&](const auto& timer) { return timer.second.kind == kind; }));
}

std::optional<api::Duration> FakeRuntime::NextTimer(api::TimerKind kind) const {
  for (const auto& [due, timer] : timers_)
    if (timer.kind == kind) return due.first - now_;
  return std::nullopt;
}

std::vector<std::string> FakeRuntime::log() const { return lines_->lines; }

}  // namespace terrarium::controllers_testing
