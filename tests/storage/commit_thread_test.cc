#include "storage/internal/commit_thread.h"

#include <future>

#include <gtest/gtest.h>

namespace terrarium::storage {
namespace {

CommitJob Job(int number) {
  CommitJob job;
  job.write.key.name = std::to_string(number);
  return job;
}

TEST(CommitThread, HandsOverWhatWaitsTogetherInOrderAndInBoundedBatches) {
  std::promise<void> started, go;
  std::vector<std::size_t> sizes;
  std::string names;
  CommitThread thread(4, [&](std::vector<CommitJob> jobs) {
    if (sizes.empty()) {
      started.set_value();
      go.get_future().wait();
    }
    sizes.push_back(jobs.size());
    for (const CommitJob& job : jobs) names += job.write.key.name;
  });
  CommitJob first = Job(0);
  EXPECT_TRUE(thread.Push(first));
  started.get_future().wait();
  for (int i = 1; i < 8; ++i) {
    CommitJob job = Job(i);
    EXPECT_TRUE(thread.Push(job));
  }
  go.set_value();
  thread.Stop();
  EXPECT_EQ(sizes, (std::vector<std::size_t>{1, 4, 3}));
  EXPECT_EQ(names, "01234567");
}

TEST(CommitThread, RefusesJobsAfterStopAndLeavesThemWhole) {
  CommitThread thread(4, [](std::vector<CommitJob>) {});
  thread.Stop();
  thread.Stop();
  CommitJob job = Job(7);
  EXPECT_FALSE(thread.Push(job));
  EXPECT_EQ(job.write.key.name, "7");
}

TEST(CommitThread, APokeComesWithAnEmptyBatch) {
  std::promise<std::size_t> size;
  CommitThread thread(4, [&](std::vector<CommitJob> jobs) { size.set_value(jobs.size()); });
  thread.Poke();
  EXPECT_EQ(size.get_future().get(), 0u);
}

}  // namespace
}  // namespace terrarium::storage
