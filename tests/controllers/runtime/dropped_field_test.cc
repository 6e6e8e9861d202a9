#include "controllers/runtime/dropped_field.h"

#include <gtest/gtest.h>

namespace terrarium::controllers {
namespace {

using api::Json;

const Json kStored = {{"replicas", 1}};
const Json kWanted = {{"replicas", 1}, {"terminating", 0}};

api::ObjectPtr With(const Json& status, const std::string& uid = "u-1") {
  api::ObjectHeader header;
  header.uid = uid;
  return api::Object::Make(std::move(header), {{"status", status}});
}

class DroppedFieldTest : public testing::Test {
 protected:
  bool MustWrite(const Json& stored, const Json& wanted, const std::string& uid = "u-1") {
    return field_.MustWrite(*With(stored, uid), stored, wanted);
  }
  DroppedField field_{"terminating"};
};

TEST_F(DroppedFieldTest, WhatDiffersIsWritten) {
  EXPECT_FALSE(MustWrite(kWanted, kWanted));
  EXPECT_TRUE(MustWrite(kStored, kWanted)) << "it has not been dropped yet";
}

TEST_F(DroppedFieldTest, OnceItWasDroppedNothingIsWrittenForItAlone) {
  field_.Written(*With(kStored), kStored, kWanted);
  EXPECT_FALSE(MustWrite(kStored, kWanted));
  EXPECT_TRUE(MustWrite({{"replicas", 2}}, kWanted));
  EXPECT_TRUE(MustWrite(kStored, {{"replicas", 1}, {"terminating", 3}})) << "another number is tried";
  EXPECT_TRUE(MustWrite(kWanted, {{"replicas", 1}, {"terminating", 3}})) << "what is there is kept";
  EXPECT_TRUE(MustWrite(kWanted, kStored)) << "and may be taken away";
  EXPECT_TRUE(MustWrite(kStored, kWanted, "u-2")) << "of another object nothing is known";
}

TEST_F(DroppedFieldTest, WhenItIsKeptItIsWorthAWriteAgain) {
  field_.Written(*With(kStored), kStored, kWanted);
  field_.Written(*With(kWanted), {{"replicas", 2}}, kWanted);
  EXPECT_TRUE(MustWrite(kStored, kWanted));
}

TEST_F(DroppedFieldTest, AnObjectThatIsGoneIsForgotten) {
  field_.Written(*With(kStored), kStored, kWanted);
  field_.Forget(*With(kStored));
  EXPECT_TRUE(MustWrite(kStored, kWanted));
}

}  // namespace
}  // namespace terrarium::controllers
