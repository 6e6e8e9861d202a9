// Budgets, deadlines and counts. None of them depends on a socket or a clock.

#include <future>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "apiserver/http/accept_gate.h"
#include "apiserver/http/byte_budget.h"
#include "apiserver/http/deadline_queue.h"
#include "apiserver/http/descriptors.h"
#include "apiserver/http/worker_pool.h"

namespace terrarium::apiserver {
namespace {

using std::chrono::seconds;

constexpr SteadyTime kStart{};

TEST(ByteBudget, IsSharedAndGivenBack) {
  ByteBudget budget(100);
  {
    BudgetShare first(budget), second(budget);
    EXPECT_TRUE(first.Resize(60));
    EXPECT_FALSE(second.Resize(41));
    EXPECT_EQ(second.bytes(), 0U);
    EXPECT_TRUE(second.Resize(40));
    EXPECT_FALSE(first.Resize(61));
    EXPECT_EQ(first.bytes(), 60U);
    EXPECT_TRUE(first.Resize(10));
    EXPECT_EQ(budget.used(), 50U);
    second.Reset();
    EXPECT_EQ(budget.used(), 10U);
  }
  EXPECT_EQ(budget.used(), 0U);
}

TEST(ByteBudget, AMovedShareIsCountedOnce) {
  ByteBudget budget(100);
  BudgetShare first(budget);
  ASSERT_TRUE(first.Resize(30));
  {
    BudgetShare second(std::move(first));
    EXPECT_EQ(second.bytes(), 30U);
    EXPECT_EQ(budget.used(), 30U);
  }
  EXPECT_EQ(budget.used(), 0U);
}

TEST(DeadlineQueue, GivesWhatIsDueEarliestFirst) {
  DeadlineQueue queue;
  queue.Set(1, kStart + seconds(30));
  queue.Set(2, kStart + seconds(10));
  queue.Set(3, kStart + seconds(20));
  EXPECT_EQ(queue.Next(), kStart + seconds(10));
  EXPECT_TRUE(queue.TakeDue(kStart + seconds(9)).empty());
  EXPECT_EQ(queue.TakeDue(kStart + seconds(20)), (std::vector<DeadlineQueue::Id>{2, 3}));
  EXPECT_EQ(queue.Next(), kStart + seconds(30));
}

TEST(DeadlineQueue, ADeadlineCanBeMovedAndRemoved) {
  DeadlineQueue queue;
  queue.Set(1, kStart + seconds(30));
  queue.Set(1, kStart + seconds(5));
  queue.Set(2, kStart + seconds(6));
  queue.Remove(2);
  queue.Remove(3);
  EXPECT_EQ(queue.TakeDue(kStart + seconds(60)), (std::vector<DeadlineQueue::Id>{1}));
  EXPECT_EQ(queue.Next(), std::nullopt);
}

TEST(AcceptGate, CountsConnectionsThatAreNotYetEstablished) {
  AcceptGate gate(2, seconds(30));
  EXPECT_TRUE(gate.Enter("a", -1, kStart));
  EXPECT_TRUE(gate.Enter("b", -1, kStart));
  EXPECT_FALSE(gate.Enter("c", -1, kStart));
  EXPECT_FALSE(gate.Establish("c"));
  gate.Leave("c");
  EXPECT_EQ(gate.size(), 2U);
  gate.Leave("a");
  gate.Leave("a");
  EXPECT_EQ(gate.size(), 1U);
  EXPECT_TRUE(gate.Enter("c", -1, kStart));
}

TEST(AcceptGate, APortUsedAgainIsTwoConnections) {
  AcceptGate gate(2, seconds(30));
  EXPECT_TRUE(gate.Enter("a", -1, kStart));
  EXPECT_TRUE(gate.Enter("a", -1, kStart));
  gate.Leave("a");
  EXPECT_TRUE(gate.Establish("a"));
  EXPECT_EQ(gate.size(), 1U);
}

TEST(AcceptGate, ShutsLateHandshakesDown) {
  int sockets[2][2];
  for (auto& pair : sockets) ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
  AcceptGate gate(10, seconds(30));
  gate.Enter("slow", sockets[0][0], kStart);
  gate.Enter("quick", sockets[1][0], kStart);
  gate.Establish("quick");
  EXPECT_EQ(gate.EndLateHandshakes(kStart + seconds(29)), kStart + seconds(30));
  char byte = 0;
  EXPECT_EQ(read(sockets[0][0], &byte, 1), -1);
  EXPECT_EQ(gate.EndLateHandshakes(kStart + seconds(30)), std::nullopt);
  EXPECT_EQ(read(sockets[0][0], &byte, 1), 0);
  EXPECT_EQ(read(sockets[1][0], &byte, 1), -1);
  for (auto& pair : sockets)
    for (int fd : pair) close(fd);
}

TEST(Descriptors, SomeAreLeftForFiles) {
  EXPECT_EQ(ConnectionsWithin(1024, 20'000), 896U);
  EXPECT_EQ(ConnectionsWithin(256, 20'000), 192U);
  EXPECT_EQ(ConnectionsWithin(1 << 20, 20'000), 20'000U);
  EXPECT_EQ(ConnectionsWithin(64, 20'000), 32U);
  EXPECT_EQ(ConnectionsWithin(0, 20'000), 1U);
}

TEST(Descriptors, TheLimitIsRaisedAsFarAsItGoes) {
  std::size_t raised = RaiseDescriptorLimit();
  EXPECT_GT(raised, 0U);
  EXPECT_EQ(RaiseDescriptorLimit(), raised);
}

TEST(WorkerPool, RunsWorkBesideOther) {
  WorkerPool pool(2);
  std::promise<void> release, second_ran;
  pool.Post([&] { release.get_future().wait(); });
  pool.Post([&] { second_ran.set_value(); });
  second_ran.get_future().wait();
  release.set_value();
}

TEST(WorkerPool, WaitsForWhatRunsWhenItStops) {
  WorkerPool pool(1);
  std::promise<void> started;
  bool done = false;
  pool.Post([&] {
    started.set_value();
    done = true;
  });
  started.get_future().wait();
  pool.Stop();
  EXPECT_TRUE(done);
  pool.Post([&] { done = false; });
  EXPECT_TRUE(done);
}

}  // namespace
}  // namespace terrarium::apiserver
