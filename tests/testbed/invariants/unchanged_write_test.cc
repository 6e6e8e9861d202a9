#include "testbed/invariants/unchanged_write.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/errors.h"

namespace terrarium::testbed::invariants {
namespace {

using namespace std::chrono_literals;
using api::WriteRequest;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

api::ObjectPtr ObjectAt(std::int64_t revision) {
  api::ObjectHeader header;
  header.name = "web";
  header.revision = revision;
  return api::Object::Make(std::move(header), {{"metadata", {{"name", "web"}}}});
}

class UnchangedWriteTest : public testing::Test {
 protected:
  // A write that moves the store from one revision to another and is answered with an object of a third.
  void Write(WriteRequest::Verb verb, std::int64_t before, std::int64_t after, api::Client::Written answer,
             const std::string& component = "kubelet") {
    SentWrite sent{component, verb, {"pods", {"default", "web"}}, "status", before, after};
    rule.OnSent(sent, now);
    rule.OnAnswer(sent, answer, now);
  }
  std::vector<std::string> Take() { return std::exchange(texts, {}); }

  std::vector<std::string> texts;
  api::Time now{1000s};
  UnchangedWrite rule{[this](const Violation& violation) { texts.push_back(violation.text); }};
};

TEST_F(UnchangedWriteTest, APatchThatChangesNothingIsReported) {
  Write(WriteRequest::Verb::kPatch, 20, 20, ObjectAt(15));
  EXPECT_THAT(Take(), ElementsAre(AllOf(HasSubstr("at revision 20"),
                                        HasSubstr("kubelet patches pods/status default/web"),
                                        HasSubstr("newer revision than 15"))));
}

TEST_F(UnchangedWriteTest, AnUpdateThatChangesNothingIsReported) {
  Write(WriteRequest::Verb::kUpdate, 20, 20, ObjectAt(15));
  EXPECT_THAT(Take(), SizeIs(1));
}

TEST_F(UnchangedWriteTest, WritesThatChangeSomethingPass) {
  Write(WriteRequest::Verb::kPatch, 20, 21, ObjectAt(21));
  Write(WriteRequest::Verb::kUpdate, 21, 22,
        ObjectAt(20));  // the last finalizer was removed, and the object with it
  EXPECT_THAT(Take(), IsEmpty());
}

TEST_F(UnchangedWriteTest, WritesThatFailAndCreatesAndDeletesPass) {
  Write(WriteRequest::Verb::kPatch, 20, 20, api::BadRequest("no"));
  Write(WriteRequest::Verb::kPatch, 20, 20, api::ObjectPtr());
  Write(WriteRequest::Verb::kCreate, 20, 20, ObjectAt(15));
  Write(WriteRequest::Verb::kDelete, 20, 20, ObjectAt(15));
  EXPECT_THAT(Take(), IsEmpty());
}

TEST_F(UnchangedWriteTest, AWriteEqualToAConcurrentOneOfAnotherClientPasses) {
  Write(WriteRequest::Verb::kPatch, 20, 21, ObjectAt(21), "controller-manager");
  Write(WriteRequest::Verb::kPatch, 21, 21, ObjectAt(21), "kubelet");
  // 22 was written by a client whose requests are not seen.
  Write(WriteRequest::Verb::kPatch, 22, 22, ObjectAt(22), "kubelet");
  EXPECT_THAT(Take(), IsEmpty());
}

TEST_F(UnchangedWriteTest, AWriteEqualToTheClientsOwnIsReported) {
  Write(WriteRequest::Verb::kPatch, 20, 21, ObjectAt(21), "kubelet");
  Write(WriteRequest::Verb::kPatch, 21, 21, ObjectAt(21), "kubelet");
  EXPECT_THAT(Take(), SizeIs(1));
}

TEST_F(UnchangedWriteTest, WhatAnotherWroteEarlierHasBeenSeen) {
  Write(WriteRequest::Verb::kPatch, 20, 21, ObjectAt(21), "controller-manager");
  now += 1s;
  Write(WriteRequest::Verb::kPatch, 21, 21, ObjectAt(21), "kubelet");
  EXPECT_THAT(Take(), SizeIs(1));
}

}  // namespace
}  // namespace terrarium::testbed::invariants
