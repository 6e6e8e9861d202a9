#include "controllers/runtime/dropped_field.h"

#include <gtest/gtest.h>

#include "api/object.h"

namespace terrarium::controllers {
namespace {

using api::Json;

const Json kStored = {{"replicas", 1}};
const Json kWanted = {{"replicas", 1}, {"terminating", 0}};

api::ObjectPtr With(const Json& status) {
  return api::Object::Make(api::ObjectHeader{}, {{"status", status}});
}

TEST(DroppedField, WhatDiffersIsWritten) {
  DroppedField field("terminating");
  EXPECT_FALSE(field.MustWrite(kWanted, kWanted));
  EXPECT_TRUE(field.MustWrite(kStored, kWanted)) << "nobody has dropped it yet";
}

TEST(DroppedField, OnceItWasDroppedNothingIsWrittenForItAlone) {
  DroppedField field("terminating");
  field.Written(kStored, kWanted, *With(kStored));
  EXPECT_FALSE(field.MustWrite(kStored, kWanted));
  EXPECT_TRUE(field.MustWrite({{"replicas", 2}}, kWanted));
  EXPECT_TRUE(field.MustWrite(kWanted, {{"replicas", 1}, {"terminating", 3}})) << "what is there is kept";
  EXPECT_TRUE(field.MustWrite(kWanted, kStored)) << "and may be taken away";
}

TEST(DroppedField, WhenItIsKeptItIsWorthAWriteAgain) {
  DroppedField field("terminating");
  field.Written(kStored, kWanted, *With(kStored));
  field.Written({{"replicas", 2}}, kWanted, *With(kWanted));
  EXPECT_TRUE(field.MustWrite(kStored, kWanted));
}

}  // namespace
}  // namespace terrarium::controllers
