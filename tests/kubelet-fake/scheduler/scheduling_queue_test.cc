#include "kubelet-fake/scheduler/internal/scheduling_queue.h"

#include <memory>

#include <gtest/gtest.h>

namespace terrarium::kubelet_fake::scheduling {
namespace {

using namespace std::chrono_literals;

class Queue : public ::testing::Test {
 protected:
  PodClassPtr Class(std::int64_t priority = 0) {
    auto out = std::make_shared<PodClass>();
    out->number = ++classes;
    out->wants.priority = priority;
    out->failure.emplace();
    return out;
  }
  PodRecord& New(const std::string& name, const PodClassPtr& pod_class) {
    PodRecord& pod = pods[name];
    pod.pod_class = pod_class;
    return pod;
  }
  std::string Pop() {
    const PodRecord* popped = queue.Pop(now);
    for (const auto& [name, pod] : pods) {
      if (&pod == popped) return name;
    }
    return "";
  }
  // Tried, and no node fitted.
  PodRecord& Failed(const std::string& name, const PodClassPtr& pod_class) {
    PodRecord& pod = New(name, pod_class);
    queue.AddUnschedulable(pod, now);
    return pod;
  }

  std::map<std::string, PodRecord> pods;
  SchedulingQueue queue;
  std::int64_t classes = 0;
  api::Time now{1h};
};

TEST_F(Queue, HandsOutByPriorityThenByArrival) {
  const PodClassPtr low = Class(0), high = Class(100);
  queue.Add(New("a", low));
  queue.Add(New("b", high));
  queue.Add(New("c", low));
  queue.Add(New("d", high));
  for (const char* name : {"b", "d", "a", "c", ""}) EXPECT_EQ(Pop(), name);
}

TEST_F(Queue, OfAClassThatWaitsOneIsTriedAtATime) {
  const PodClassPtr one = Class(), other = Class();
  Failed("a", one);
  Failed("b", one);
  Failed("c", other);
  EXPECT_EQ(Pop(), "");
  queue.TryOneOf(*one, now);
  EXPECT_EQ(Pop(), "a");
  EXPECT_EQ(Pop(), "");
  EXPECT_EQ(queue.waiting().size(), 2u);
  queue.TryOneOf(*one, now);
  EXPECT_EQ(Pop(), "b");
  EXPECT_EQ(queue.waiting().size(), 1u);
}

TEST_F(Queue, APodThatFailsAgainGoesToTheEndOfItsClass) {
  const PodClassPtr one = Class();
  PodRecord& a = Failed("a", one);
  Failed("b", one);
  queue.TryOneOf(*one, now);
  EXPECT_EQ(Pop(), "a");
  queue.AddUnschedulable(a, now);
  queue.TryOneOf(*one, now);
  EXPECT_EQ(Pop(), "b");
}

TEST_F(Queue, BackoffOnlyLetsOthersGoFirst) {
  const PodClassPtr tried = Class(100), fresh = Class(0);
  Failed("tried", tried);
  queue.TryOneOf(*tried, now);
  queue.Add(New("fresh", fresh));
  EXPECT_EQ(queue.sizes().backoff, 1u);
  EXPECT_EQ(Pop(), "fresh");
  EXPECT_EQ(Pop(), "tried") << "nothing else is to be done";
}

TEST_F(Queue, BackoffThatIsOverNoLongerCounts) {
  const PodClassPtr tried = Class(100), fresh = Class(0);
  Failed("tried", tried);
  queue.TryOneOf(*tried, now);
  queue.Add(New("fresh", fresh));
  now += 1s;
  EXPECT_EQ(Pop(), "tried");
}

TEST_F(Queue, BackoffDoublesFromOneSecondToTen) {
  PodRecord& pod = New("a", Class());
  for (auto seconds : {1s, 2s, 4s, 8s, 10s, 10s}) {
    queue.AddErrored(pod, now);
    EXPECT_EQ(*queue.NextErrorRetry() - now, seconds);
    EXPECT_EQ(Pop(), "") << "after an error the wait is served";
    now += seconds;
    queue.TryErrored(now);
    EXPECT_EQ(Pop(), "a");
  }
  queue.AddUnschedulable(pod, now);
  EXPECT_EQ(pod.backoff_until - now, 1s) << "failures of another sort are counted apart";
  queue.Remove(pod);
  queue.AddErrored(pod, now);
  EXPECT_EQ(*queue.NextErrorRetry() - now, 1s) << "errors were not in a row";
}

TEST_F(Queue, PodsThatWaitedLongAreAllTried) {
  const PodClassPtr one = Class();
  Failed("a", one);
  Failed("b", one);
  now += 1min;
  Failed("c", one);
  now += 4min;
  queue.TryWaitingSince(5min, now);
  EXPECT_FALSE(queue.HasNext());
  now += 1us;
  queue.TryWaitingSince(5min, now);
  EXPECT_EQ(Pop(), "a");
  EXPECT_EQ(Pop(), "b");
  EXPECT_EQ(Pop(), "");
}

TEST_F(Queue, APodCanBeTakenOutWhereverItIs) {
  const PodClassPtr one = Class();
  queue.Add(New("active", one));
  Failed("waiting", one);
  queue.AddErrored(New("errored", one), now);
  queue.AddGated(New("gated", one));
  Failed("backoff", Class());
  queue.TryOneOf(*pods["backoff"].pod_class, now);
  const SchedulingQueue::Sizes full = queue.sizes();
  EXPECT_EQ(full.active, 1u);
  EXPECT_EQ(full.backoff, 2u);
  EXPECT_EQ(full.unschedulable, 1u);
  EXPECT_EQ(full.gated, 1u);
  for (auto& [name, pod] : pods) queue.Remove(pod);
  const SchedulingQueue::Sizes empty = queue.sizes();
  EXPECT_EQ(empty.active + empty.backoff + empty.unschedulable + empty.gated, 0u);
  EXPECT_TRUE(queue.waiting().empty());
  EXPECT_EQ(Pop(), "");
}

}  // namespace
}  // namespace terrarium::kubelet_fake::scheduling
