#include "testbed/embedding/gtest/testbed_test.h"

#include <cstdio>
#include <utility>

namespace terrarium::testing {
namespace {

using testbed::Testbed;
using testbed::TestbedOptions;

int FailuresSoFar() {
  const ::testing::TestResult* result = ::testing::UnitTest::GetInstance()->current_test_info()->result();
  int failures = 0;
  for (int i = 0; i < result->total_part_count(); ++i)
    failures += result->GetTestPartResult(i).failed() ? 1 : 0;
  return failures;
}

}  // namespace

TestbedTest::~TestbedTest() = default;

Testbed& TestbedTest::bed() {
  if (bed_ == nullptr) Make(Options());
  return *bed_;
}

Testbed& TestbedTest::Restart(TestbedOptions options) {
  ShowTimeline();
  bed_ = nullptr;
  Make(std::move(options));
  return *bed_;
}

void TestbedTest::Make(TestbedOptions options) {
  seed_ = options.seed;
  if (!options.on_violation)
    options.on_violation = [this](const testbed::invariants::Violation& violation) {
      // In the constructor of the testbed the control plane does not exist yet.
      ADD_FAILURE() << (bed_ == nullptr ? violation.String() : bed_->Explained(violation));
    };
  bed_ = std::make_unique<Testbed>(std::move(options));
}

void TestbedTest::ShowTimeline() {
  int failures = FailuresSoFar();
  if (bed_ == nullptr || failures == shown_failures_) return;
  shown_failures_ = failures;
  std::string text = bed_->timeline().Text(ShownTimeline());
  const ::testing::TestInfo* test = ::testing::UnitTest::GetInstance()->current_test_info();
  std::fprintf(stderr, "Timeline of %s.%s (seed %llu, now %s), %s\n", test->test_suite_name(), test->name(),
               static_cast<unsigned long long>(seed_), api::FormatMicroTime(bed_->Now()).c_str(),
               text.c_str());
  RecordProperty("timeline", text);
}

void TestbedTest::TearDown() { ShowTimeline(); }

}  // namespace terrarium::testing
