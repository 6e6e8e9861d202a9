#include "api/container_log.h"

#include <algorithm>
#include <utility>

namespace terrarium::api {
namespace {

// A text that is printed again begins on a line of its own.
PrintScript Completed(PrintScript script) {
  if (script.every && !script.text.empty() && script.text.back() != '\n') script.text += '\n';
  return script;
}

std::vector<std::string_view> SplitLines(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const std::size_t newline = text.find('\n');
    const std::size_t size = newline == std::string_view::npos ? text.size() : newline + 1;
    out.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return out;
}

}  // namespace

ContainerLog::ContainerLog(PrintScript script, Time started)
    : script_(Completed(std::move(script))), started_(started), lines_(SplitLines(script_.text)) {}

void ContainerLog::End(Time finished) {
  std::vector<std::weak_ptr<std::function<void()>>> wakes;
  {
    std::lock_guard lock(mutex_);
    if (finished_) return;
    finished_ = finished;
    wakes.swap(wakes_);
  }
  for (const auto& weak : wakes)
    if (auto wake = weak.lock()) (*wake)();
}

std::shared_ptr<void> ContainerLog::OnEnd(std::function<void()> wake) {
  auto handle = std::make_shared<std::function<void()>>(std::move(wake));
  {
    std::lock_guard lock(mutex_);
    if (!finished_) {
      std::erase_if(wakes_, [](const auto& weak) { return weak.expired(); });
      wakes_.push_back(handle);
      return handle;
    }
  }
  (*handle)();
  return handle;
}

// Lines that are printed up to and including `end`.
std::int64_t ContainerLog::LinesBefore(Time end) const {
  if (end < started_) return 0;
  const std::int64_t prints = script_.every ? (end - started_) / *script_.every + 1 : 1;
  return prints * static_cast<std::int64_t>(lines_.size());
}

ContainerLog::Extent ContainerLog::ExtentAt(Time now) const {
  Extent out;
  {
    std::lock_guard lock(mutex_);
    out.ended = finished_.has_value();
    if (finished_) now = std::min(now, *finished_);
  }
  out.end = LinesBefore(now);
  if (lines_.empty()) return out;
  const auto text_bytes = static_cast<std::int64_t>(script_.text.size());
  const std::int64_t prints_max = std::max<std::int64_t>(1, kBytesMax / text_bytes);
  out.begin = std::max<std::int64_t>(0, out.end - prints_max * static_cast<std::int64_t>(lines_.size()));
  if (script_.every && !out.ended)
    out.next =
        now < started_ ? started_ : started_ + ((now - started_) / *script_.every + 1) * *script_.every;
  return out;
}

ContainerLog::Line ContainerLog::LineAt(std::int64_t number) const {
  const auto count = static_cast<std::int64_t>(lines_.size());
  const Duration since = script_.every ? (number / count) * *script_.every : Duration::zero();
  return {started_ + since, lines_[static_cast<std::size_t>(number % count)]};
}

}  // namespace terrarium::api
