#include <future>
#include <memory>

#include <gtest/gtest.h>

#include "testbed/runtime/real_runtime.h"

namespace terrarium::testbed {
namespace {

using namespace std::chrono_literals;
using api::TimerKind;

void WaitForTurn(ThreadExecutor& executor) {
  std::promise<void> ran;
  executor.Post([&ran] { ran.set_value(); });
  ran.get_future().get();
}

// The thread sleeps until the first timer is due, Cancel() erases that timer, and a new one wakes the thread.
// The address sanitizer reports a thread that still reads the erased timer.
TEST(ThreadExecutor, SurvivesTheCancellationOfTheTimerItSleepsFor) {
  ThreadExecutor executor;
  for (int round = 0; round < 2'000; ++round) {
    api::TimerId id =
        executor.PostTimer(TimerKind::kWork, 1h, [] { ADD_FAILURE() << "fired after an hour"; });
    WaitForTurn(executor);
    EXPECT_TRUE(executor.Cancel(id));
    EXPECT_FALSE(executor.Cancel(id));
    WaitForTurn(executor);
  }
}

// Timers of requests own objects that cancel other timers of the same request.
class CancelsOnDestruction {
 public:
  explicit CancelsOnDestruction(ThreadExecutor& executor)
      : executor_(executor), id_(executor.PostTimer(TimerKind::kWork, 2h, [] {})) {}
  ~CancelsOnDestruction() { executor_.Cancel(id_); }

 private:
  ThreadExecutor& executor_;
  api::TimerId id_;
};

TEST(ThreadExecutor, LetsGoOfCancelledWorkWithoutItsLock) {
  ThreadExecutor executor;
  auto captured = std::make_shared<CancelsOnDestruction>(executor);
  api::TimerId id = executor.PostTimer(TimerKind::kWork, 1h, [captured] {});
  captured = nullptr;
  EXPECT_TRUE(executor.Cancel(id));
}

TEST(ThreadExecutor, LetsGoOfStoppedWorkWithoutItsLock) {
  ThreadExecutor executor;
  auto captured = std::make_shared<CancelsOnDestruction>(executor);
  executor.PostTimer(TimerKind::kWork, 1h, [captured] {});
  captured = nullptr;
  executor.Stop();
  EXPECT_EQ(executor.PostTimer(TimerKind::kWork, 1h, [] {}), 0u);
}

}  // namespace
}  // namespace terrarium::testbed
