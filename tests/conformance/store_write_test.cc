#include <atomic>
#include <future>
#include <mutex>

#include <gtest/gtest.h>

#include "tests/conformance/store_conformance.h"

namespace terrarium::storage::testing {
namespace {

using Code = WriteOutcome::Code;

TERRARIUM_STORE_SUITE(StoreWrite);

TEST_P(StoreWrite, AFreshStoreIsEmptyAndItsRevisionIsNotZero) {
  EXPECT_GT(store_->CurrentRevision(), 0);
  EXPECT_EQ(store_->Count(kPods), 0u);
  EXPECT_EQ(store_->Get({kPods, "a", "x"}), nullptr);
  Listing listing = MustList({.resource = kPods});
  EXPECT_TRUE(listing.items.empty());
  EXPECT_EQ(listing.revision, store_->CurrentRevision());
}

TEST_P(StoreWrite, RevisionsRiseByOneAndAreStampedIntoHeaderAndText) {
  ObjectPtr first = Create("a", "x", 1);
  ObjectPtr second = Create("a", "y", 2);
  ObjectPtr updated = Update(first, 3);
  EXPECT_EQ(first->revision(), base_ + 1);
  EXPECT_EQ(second->revision(), base_ + 2);
  EXPECT_EQ(updated->revision(), base_ + 3);
  EXPECT_EQ(updated->Parse()["metadata"]["resourceVersion"], std::to_string(base_ + 3));
  EXPECT_EQ(store_->CurrentRevision(), base_ + 3);
}

TEST_P(StoreWrite, AWriteIsReadableOnceItIsAcknowledged) {
  ObjectPtr written = Create("a", "x", 1);
  EXPECT_EQ(store_->Get({kPods, "a", "x"}), written);
  EXPECT_EQ(store_->Get({kPods, "b", "x"}), nullptr);
  EXPECT_EQ(store_->Get({"services", "a", "x"}), nullptr);
  EXPECT_EQ(store_->Count(kPods), 1u);
}

TEST_P(StoreWrite, ReadersShareTheObjectInsteadOfCopyingIt) {
  Create("a", "x");
  EXPECT_EQ(store_->Get({kPods, "a", "x"}).get(), MustList({.resource = kPods}).items.at(0).get());
}

TEST_P(StoreWrite, CreateOfATakenNameGivesTheCurrentObject) {
  ObjectPtr first = Create("a", "x", 1);
  WriteOutcome outcome = Do(*store_, CreateWrite("a", "x", 2));
  EXPECT_EQ(outcome.code, Code::kExists);
  EXPECT_EQ(outcome.object, first);
  EXPECT_EQ(store_->CurrentRevision(), base_ + 1) << "a refused write takes no revision";
}

TEST_P(StoreWrite, TheSameNameInAnotherNamespaceOrResourceIsAnotherObject) {
  Create("a", "x", 1);
  Create("b", "x", 2);
  Must(*store_, CreateWrite("a", "x", 3, "services"));
  EXPECT_EQ(ValueOf(store_->Get({kPods, "a", "x"})), 1);
  EXPECT_EQ(ValueOf(store_->Get({kPods, "b", "x"})), 2);
  EXPECT_EQ(ValueOf(store_->Get({"services", "a", "x"})), 3);
  EXPECT_EQ(store_->Count(kPods), 2u);
}

TEST_P(StoreWrite, UpdateAtAnotherRevisionIsAConflictWithTheCurrentObject) {
  ObjectPtr first = Create("a", "x", 1);
  ObjectPtr second = Update(first, 2);
  WriteOutcome outcome = Do(*store_, UpdateWrite(first, 3));
  EXPECT_EQ(outcome.code, Code::kConflict);
  EXPECT_EQ(outcome.object, second);
  EXPECT_EQ(ValueOf(store_->Get({kPods, "a", "x"})), 2);
  EXPECT_EQ(store_->CurrentRevision(), base_ + 2);
}

TEST_P(StoreWrite, DeleteAtAnotherRevisionIsAConflict) {
  ObjectPtr first = Create("a", "x", 1);
  Update(first, 2);
  EXPECT_EQ(Do(*store_, DeleteWrite(first)).code, Code::kConflict);
  EXPECT_NE(store_->Get({kPods, "a", "x"}), nullptr);
}

TEST_P(StoreWrite, UpdateAndDeleteOfNothingAreNotFound) {
  ObjectPtr never = MakeObject("a", "x");
  EXPECT_EQ(Do(*store_, UpdateWrite(never, 1)).code, Code::kNotFound);
  EXPECT_EQ(Do(*store_, DeleteWrite(never)).code, Code::kNotFound);
  ObjectPtr gone = Create("a", "x");
  Delete(gone);
  EXPECT_EQ(Do(*store_, UpdateWrite(gone, 1)).code, Code::kNotFound);
}

TEST_P(StoreWrite, ADeletionTakesARevisionAndGivesTheLastStateAtIt) {
  ObjectPtr first = Create("a", "x", 7);
  ObjectPtr last = Delete(first);
  EXPECT_EQ(last->revision(), base_ + 2);
  EXPECT_EQ(ValueOf(last), 7);
  EXPECT_EQ(store_->Get({kPods, "a", "x"}), nullptr);
  EXPECT_EQ(store_->Count(kPods), 0u);
}

TEST_P(StoreWrite, ADeletionCanBringALastStateOfItsOwn) {
  ObjectPtr first = Create("a", "x", 1);
  Write write = DeleteWrite(first);
  write.object = MakeObject("a", "x", 9);
  auto watch = MustWatch({.resource = kPods, .from_revision = first->revision()});
  EXPECT_EQ(ValueOf(Must(*store_, std::move(write))), 9);
  std::vector<Event> events = TakeAll(*watch);
  EXPECT_EQ(Show(events, base_), "-a/x=9@2");
  EXPECT_EQ(events.at(0).previous, first);
}

TEST_P(StoreWrite, ANameCanBeUsedAgainAfterItsDeletion) {
  Delete(Create("a", "x", 1));
  EXPECT_EQ(Create("a", "x", 2)->revision(), base_ + 3);
}

TEST_P(StoreWrite, WritesSubmittedTogetherSeeEachOtherInOrder) {
  std::mutex mutex;
  std::vector<Code> codes;
  auto note = [&](WriteOutcome outcome) {
    std::lock_guard lock(mutex);
    codes.push_back(outcome.code);
  };
  ObjectPtr at_first = MakeObject("a", "x")->AtRevision(base_ + 1);
  ObjectPtr at_second = MakeObject("a", "x")->AtRevision(base_ + 2);
  store_->Submit(CreateWrite("a", "x", 1), note);
  store_->Submit(CreateWrite("a", "x", 2), note);
  store_->Submit(UpdateWrite(at_first, 3), note);
  store_->Submit(UpdateWrite(at_first, 4), note);
  store_->Submit(DeleteWrite(at_second), note);
  store_->Submit(DeleteWrite(at_second), note);
  store_->Submit(CreateWrite("a", "x", 5), note);
  Create("z", "last");
  std::lock_guard lock(mutex);
  EXPECT_EQ(codes, (std::vector<Code>{Code::kOk, Code::kExists, Code::kOk, Code::kConflict, Code::kOk,
                                      Code::kNotFound, Code::kOk}));
  EXPECT_EQ(ValueOf(store_->Get({kPods, "a", "x"})), 5);
  EXPECT_EQ(store_->CurrentRevision(), base_ + 5);
}

TEST_P(StoreWrite, DoneMaySubmitAgain) {
  std::promise<std::int64_t> last;
  store_->Submit(CreateWrite("a", "x"), [&](WriteOutcome first) {
    EXPECT_NE(store_->Get({kPods, "a", "x"}), nullptr) << "done comes after the write is visible";
    store_->Submit(DeleteWrite(first.object),
                   [&](WriteOutcome second) { last.set_value(second.object->revision()); });
  });
  EXPECT_EQ(last.get_future().get(), base_ + 2);
}

TEST_P(StoreWrite, AfterShutdownWritesFailAndReadsGoOn) {
  Create("a", "x", 1);
  store_->Shutdown();
  store_->Shutdown();
  WriteOutcome outcome = Do(*store_, CreateWrite("a", "y"));
  EXPECT_EQ(outcome.code, Code::kFailed);
  EXPECT_FALSE(outcome.error.empty());
  EXPECT_EQ(Show(MustList({.resource = kPods}).items, base_), "a/x=1@1");
}

TEST_P(StoreWrite, ShutdownWaitsForWhatWasSubmitted) {
  std::atomic<int> done = 0;
  for (int i = 0; i < 500; ++i)
    store_->Submit(CreateWrite("a", "x" + std::to_string(i)), [&](WriteOutcome outcome) {
      if (outcome.code == Code::kOk) ++done;
    });
  store_->Shutdown();
  EXPECT_EQ(done, 500);
  EXPECT_EQ(store_->Count(kPods), 500u);
}

TEST_P(StoreWrite, LargeAndUnusualContentsComeBackAsTheyWere) {
  api::ObjectHeader header;
  header.name = "big";
  std::string text(300'000, 'x');
  text += "\n\"\\\x01 \xc3\xa9";
  ObjectPtr object = api::Object::Make(header, {{"metadata", {{"name", "big"}}}, {"data", text}});
  ObjectPtr written = Must(
      *store_, {.op = Write::Op::kCreate, .key = {"configmaps", "", "big"}, .object = std::move(object)});
  EXPECT_EQ(written->Parse()["data"], text);
}

}  // namespace
}  // namespace terrarium::storage::testing
