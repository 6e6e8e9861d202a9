#include "apiserver/subresources/internal/log_reader.h"

#include <algorithm>
#include <utility>

namespace terrarium::apiserver {
namespace {

// The kubelet writes nanoseconds; the clock has microseconds.
std::string Stamp(api::Time time) {
  std::string text = api::FormatMicroTime(time);
  text.insert(text.size() - 1, "000");
  return text += ' ';
}

}  // namespace

LogReader::LogReader(std::shared_ptr<api::ContainerLog> log, const PodLogOptions& options, api::Time now)
    : log_(std::move(log)), timestamps_(options.timestamps) {
  const api::ContainerLog::Extent extent = log_->ExtentAt(now);
  position_ = extent.begin;
  if (options.tail_lines && *options.tail_lines < extent.end - extent.begin)
    position_ = extent.end - *options.tail_lines;
  // Longer than any log, and small enough that the subtraction cannot overflow.
  constexpr std::int64_t kSinceSecondsMax = std::int64_t{100} * 365 * 24 * 3600;
  if (options.since_seconds)
    since_ = now - std::chrono::seconds(std::min(*options.since_seconds, kSinceSecondsMax));
  if (options.since_time) since_ = std::max(since_, *options.since_time);
  if (options.limit_bytes) bytes_left_ = *options.limit_bytes;
}

LogReader::Progress LogReader::Read(api::Time now, std::size_t size_max, std::string& out) {
  const api::ContainerLog::Extent extent = log_->ExtentAt(now);
  position_ = std::max(position_, extent.begin);
  for (; position_ < extent.end && out.size() < size_max; ++position_) {
    const api::ContainerLog::Line line = log_->LineAt(position_);
    if (line.time < since_) continue;
    std::string text = timestamps_ ? Stamp(line.time) : std::string();
    text += line.text;
    if (static_cast<std::int64_t>(text.size()) > bytes_left_)
      text.resize(static_cast<std::size_t>(bytes_left_));
    bytes_left_ -= static_cast<std::int64_t>(text.size());
    out += text;
    if (bytes_left_ == 0) return {.over = true, .next = {}};
  }
  return {.over = extent.ended && position_ >= extent.end, .next = extent.next};
}

}  // namespace terrarium::apiserver
