#include "controllers/runtime/expectations.h"

#include <gtest/gtest.h>

#include "tests/controllers/runtime/fake_runtime.h"

namespace terrarium::controllers {
namespace {

class ExpectationsTest : public ::testing::Test {
 protected:
  const ObjectName key_{"default", "rs"};
  controllers_testing::FakeRuntime runtime_;
  Expectations expectations_{runtime_.env()};
};

TEST_F(ExpectationsTest, WithoutExpectationsAKeyIsSatisfied) { EXPECT_TRUE(expectations_.Satisfied(key_)); }

TEST_F(ExpectationsTest, SatisfiedWhenAllCreationsHaveBeenSeen) {
  expectations_.ExpectCreations(key_, 2);
  EXPECT_FALSE(expectations_.Satisfied(key_));
  EXPECT_TRUE(expectations_.Satisfied({"default", "other"}));
  expectations_.CreationObserved(key_);
  expectations_.CreationObserved({"default", "other"});
  EXPECT_FALSE(expectations_.Satisfied(key_));
  expectations_.CreationObserved(key_);
  EXPECT_TRUE(expectations_.Satisfied(key_));
  expectations_.CreationObserved(key_);
  EXPECT_TRUE(expectations_.Satisfied(key_)) << "an unexpected one";
}

TEST_F(ExpectationsTest, ObjectSeenGoingTwiceCountsOnce) {
  expectations_.ExpectDeletions(key_, {"uid-1", "uid-2"});
  EXPECT_TRUE(expectations_.DeletionObserved(key_, "uid-1"));
  EXPECT_FALSE(expectations_.DeletionObserved(key_, "uid-1"));
  EXPECT_FALSE(expectations_.DeletionObserved(key_, "uid-3"));
  EXPECT_FALSE(expectations_.Satisfied(key_));
  expectations_.DeletionObserved(key_, "uid-2");
  EXPECT_TRUE(expectations_.Satisfied(key_));
}

TEST_F(ExpectationsTest, NewExpectationsReplaceTheOldOnes) {
  expectations_.ExpectCreations(key_, 5);
  expectations_.ExpectDeletions(key_, {"uid-1"});
  expectations_.DeletionObserved(key_, "uid-1");
  EXPECT_TRUE(expectations_.Satisfied(key_)) << "the creations are expected no more";
  expectations_.ExpectDeletions(key_, {"uid-2"});
  expectations_.ExpectCreations(key_, 1);
  expectations_.CreationObserved(key_);
  EXPECT_TRUE(expectations_.Satisfied(key_));
}

TEST_F(ExpectationsTest, AfterFiveMinutesTheControllerActsAnyway) {
  expectations_.ExpectCreations(key_, 1);
  runtime_.Advance(Expectations::kExpiry);
  EXPECT_FALSE(expectations_.Satisfied(key_));
  runtime_.Advance(api::Duration(1));
  EXPECT_TRUE(expectations_.Satisfied(key_));
  expectations_.ExpectCreations(key_, 1);
  EXPECT_FALSE(expectations_.Satisfied(key_)) << "the time starts again";
}

TEST_F(ExpectationsTest, ForgottenExpectationsAreSatisfied) {
  expectations_.ExpectCreations(key_, 1);
  expectations_.Forget(key_);
  EXPECT_TRUE(expectations_.Satisfied(key_));
}

}  // namespace
}  // namespace terrarium::controllers
