#include "testbed/cli/test_progress.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

#include <sys/ioctl.h>
#include <unistd.h>

#include "api/base/duration.h"

namespace terrarium::testbed {
namespace {

using Result = scenario::RunReport::Result;

constexpr const char* kGreen = "\033[32m";
constexpr const char* kRed = "\033[31m";
constexpr const char* kPlain = "\033[0m";

bool WantsColours() {
  const char* none = std::getenv("NO_COLOR");
  return isatty(STDOUT_FILENO) != 0 && (none == nullptr || *none == '\0');
}

std::string Milliseconds(std::chrono::microseconds time) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f ms", static_cast<double>(time.count()) / 1000);
  return text;
}

std::size_t TerminalWidth() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

TestProgress::TestProgress(std::vector<std::string> titles)
    : titles_(std::move(titles)),
      terminal_(isatty(STDOUT_FILENO) != 0),
      colours_(WantsColours()),
      began_(std::chrono::steady_clock::now()),
      endings_(titles_.size()) {}

void TestProgress::Began(std::size_t index) {
  std::lock_guard lock(mutex_);
  running_ = titles_[index];
  ClearStatus();
  ShowStatus();
}

void TestProgress::Ended(std::size_t index, Ending ending) {
  std::lock_guard lock(mutex_);
  if (ending.result == Result::kPassed)
    ++passed_;
  else if (ending.result == Result::kFailed)
    ++failed_;
  else
    ++not_run_;
  endings_[index] = std::move(ending);
  ClearStatus();
  for (; printed_ < endings_.size() && endings_[printed_]; ++printed_) PrintLine(printed_);
  ShowStatus();
  std::fflush(stdout);
}

void TestProgress::PrintLine(std::size_t index) {
  const Ending& ending = *endings_[index];
  if (ending.result == Result::kInterrupted) return;
  const bool passed = ending.result == Result::kPassed;
  if (!passed) failures_.push_back(index);
  std::printf("%s%s%s %s (%s, %s of virtual time)\n", colours_ ? (passed ? kGreen : kRed) : "",
              passed ? "PASS" : "FAIL", colours_ ? kPlain : "", titles_[index].c_str(),
              Milliseconds(ending.took).c_str(), api::FormatDuration(ending.virtual_time).c_str());
  std::fputs(ending.details.c_str(), stdout);
}

void TestProgress::ShowStatus() {
  if (!terminal_) return;
  std::string status = "[" + std::to_string(passed_ + failed_ + not_run_) + "/" +
                       std::to_string(titles_.size()) + "] " + std::to_string(failed_) + " failed, " +
                       running_;
  if (std::size_t width = TerminalWidth(); status.size() >= width) status.resize(width - 1);
  std::fputs(status.c_str(), stdout);
  std::fflush(stdout);
}

void TestProgress::ClearStatus() {
  if (terminal_) std::fputs("\r\033[K", stdout);
}

void TestProgress::Finish() {
  std::lock_guard lock(mutex_);
  ClearStatus();
  const auto took =
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - began_);
  std::printf("\n");
  // Far above, a failure is easily missed.
  if (titles_.size() > 20)
    for (std::size_t index : failures_) std::printf("failed: %s\n", titles_[index].c_str());
  if (not_run_ > 0) std::printf("interrupted: %d not run\n", not_run_);
  std::printf("%zu %s in %s\n%d passed, %d failed\n", titles_.size(),
              titles_.size() == 1 ? "scenario" : "scenarios", Milliseconds(took).c_str(), passed_, failed_);
  std::fflush(stdout);
}

}  // namespace terrarium::testbed
