// Events during a picker call: specs and pods that change, late answers, and shutdown.

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/json_access.h"
#include "controllers/replicaset/replicaset_controller.h"
#include "controllers/runtime/owner_references.h"
#include "tests/controllers/replicaset/picker_testing.h"
#include "tests/controllers/runtime/fake_client.h"
#include "tests/controllers/runtime/fake_runtime.h"

namespace terrarium::controllers {
namespace {

using api::Json;
using api::ObjectPtr;
using controllers_testing::AnswerWith;
using controllers_testing::Fails;
using controllers_testing::FakeClient;
using controllers_testing::FakeHttpCaller;
using controllers_testing::FakeRuntime;
using controllers_testing::PickerCluster;
using controllers_testing::PickerSpec;
using controllers_testing::Picks;
using controllers_testing::ReplicaSet;
using controllers_testing::WithPicker;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;
using namespace std::chrono_literals;

// A controller alone. The test acts as the kubelet and as the picker. Calls wait until the test answers them.
class PickerRaces : public testing::Test {
 protected:
  PickerRaces() {
    runtime_.gates() = *runtime_.gates().With("DownscalePodPicker=true");
    StartController();
  }
  void StartController() {
    informers_ = std::make_unique<InformerSet>(runtime_.env(), client_);
    ControllerContext context{runtime_.env(), client_, *informers_, recorder_, metrics_, why_, &caller_};
    controller_ = MakeReplicaSetController(context);
    informers_->OnSynced([this] { controller_->Start(); });
    informers_->Start();
    runtime_.RunReady();
  }

  void PutOwner(Json owner) {
    owner["metadata"]["namespace"] = "default";
    owner["metadata"]["generation"] = ++generation_;
    client_.Put("replicasets", owner);
  }
  void Put(Json owner) {
    PutOwner(std::move(owner));
    runtime_.RunReady();
  }
  // The pods a, b, c, ... of a ReplicaSet "web", and a scale-down whose picker call is in progress.
  void AskOf(int pods, int replicas, const Json& picker = PickerSpec({{"maxRetries", 2}})) {
    PutOwner(WithPicker(ReplicaSet("web", pods), picker));
    for (int i = 0; i < pods; ++i) PutPod(std::string(1, static_cast<char>('a' + i)));
    runtime_.RunReady();
    Scale(replicas);
    ASSERT_EQ(caller_.held(), 1u);
    ASSERT_THAT(Deleted(), IsEmpty());
  }
  void Scale(int replicas) { Change("replicas", replicas); }
  void Change(const char* field, const Json& value) {
    Json owner = client_.Find("replicasets", {"default", "web"})->Parse();
    if (value.is_null())
      owner["spec"].erase(field);
    else
      owner["spec"][field] = value;
    Put(owner);
  }
  void SetReady(const std::string& pod, bool ready) {
    PutPod(pod, "web", ready);
    runtime_.RunReady();
  }
  void PutPod(const std::string& name, const std::string& owner = "web", bool ready = true) {
    Json pod = controllers_testing::Pod(name, {{"app", owner}});
    pod["metadata"]["namespace"] = "default";
    pod["metadata"]["ownerReferences"] = {
        ControllerReference(*client_.Find("replicasets", {"default", owner}), "apps/v1", "ReplicaSet")};
    pod["spec"]["nodeName"] = "node-0";
    pod["status"] = {{"phase", "Running"},
                     {"conditions", {{{"type", "Ready"}, {"status", ready ? "True" : "False"}}}}};
    client_.Put("pods", pod);
  }
  void Answer(api::HttpAnswer answer) {
    caller_.Answer(std::move(answer));
    runtime_.RunReady();
  }
  std::vector<std::string> Deleted() {
    std::vector<std::string> names;
    for (const api::WriteRequest& write : client_.writes)
      if (write.verb == api::WriteRequest::Verb::kDelete) names.push_back(write.object.name);
    return names;
  }
  Json Asked(std::size_t call) { return Json::parse(caller_.calls.at(call).body); }
  std::vector<std::string> Events() {
    std::vector<std::string> reasons;
    for (const api::WriteRequest& write : event_client_.writes)
      if (api::StringAt(write.body, "type") == "Warning")
        reasons.emplace_back(api::StringAt(write.body, "message"));
    return reasons;
  }
  bool HasMetric(const std::string& metric) {
    return metrics_.Text().find(controllers_testing::kPickerMetric + metric) != std::string::npos;
  }

  FakeHttpCaller caller_;
  FakeRuntime runtime_;
  FakeClient client_{runtime_};
  FakeClient event_client_{runtime_};
  std::unique_ptr<InformerSet> informers_;
  EventRecorder recorder_{runtime_.env(), event_client_};
  Metrics metrics_;
  WhyLog why_;
  std::unique_ptr<Controller> controller_;
  int generation_ = 0;
};

TEST_F(PickerRaces, IrrelevantChangesDoNotDiscardTheAnswer) {
  AskOf(3, 2);
  Json owner = client_.Find("replicasets", {"default", "web"})->Parse();
  owner["metadata"]["annotations"] = {{"note", "hello"}};
  owner["spec"]["minReadySeconds"] = 5;
  Put(owner);
  Json pod = client_.Find("pods", {"default", "b"})->Parse();
  pod["metadata"]["annotations"] = {{"note", "hello"}};
  client_.Put("pods", pod);
  runtime_.RunReady();
  Answer(Picks({"a"}));
  EXPECT_THAT(Deleted(), ElementsAre("a"));
  EXPECT_THAT(caller_.calls, SizeIs(1));
}

TEST_F(PickerRaces, TheStatusIsWrittenDuringACall) {
  AskOf(3, 2);
  const Json status = api::ObjectAt(*client_.Find("replicasets", {"default", "web"})->Document(), "status");
  EXPECT_EQ(status["observedGeneration"], generation_);
  EXPECT_EQ(status["replicas"], 3);
}

TEST_F(PickerRaces, AnAnswerForFewerPodsIsNotCarriedOut) {
  AskOf(4, 3);
  Scale(1);
  EXPECT_THAT(caller_.calls, SizeIs(1)) << "one question at a time";
  Answer(Picks({"a"}));
  EXPECT_THAT(Deleted(), IsEmpty());
  ASSERT_THAT(caller_.calls, SizeIs(2));
  EXPECT_EQ(Asked(1)["number_of_pods_requested"], 3);
  Answer(Picks({"a", "b", "d"}));
  EXPECT_THAT(Deleted(), UnorderedElementsAre("a", "b", "d"));
  EXPECT_FALSE(HasMetric("failures_total"));
}

TEST_F(PickerRaces, AnAnswerForMorePodsIsNotCarriedOut) {
  AskOf(4, 1);
  Scale(3);
  Answer(Picks({"a", "b", "c"}));
  EXPECT_THAT(Deleted(), IsEmpty());
  Answer(Picks({"c"}));
  EXPECT_THAT(Deleted(), ElementsAre("c"));
}

TEST_F(PickerRaces, WhereNothingShrinksAnyMoreTheAnswerIsForgotten) {
  AskOf(3, 2);
  Scale(3);
  Answer(Picks({"a"}));
  EXPECT_THAT(Deleted(), IsEmpty());
  EXPECT_TRUE(HasMetric("calls_total{outcome=\"abandoned\"} 1"));
  Scale(2);
  EXPECT_THAT(caller_.calls, SizeIs(2)) << "called again";
}

// Down, up and down again to the same number: the request is the same, but the first answer may be out of
// date.
TEST_F(PickerRaces, AnAnswerToTheSameQuestionAskedBeforeIsNotUsed) {
  AskOf(3, 2);
  Scale(3);
  Scale(2);
  ASSERT_EQ(caller_.held(), 2u);
  Answer(Picks({"a"}));
  EXPECT_THAT(Deleted(), IsEmpty());
  Answer(Picks({"b"}));
  EXPECT_THAT(Deleted(), ElementsAre("b"));
}

TEST_F(PickerRaces, ScalingUpDoesNotWaitForAnAnswer) {
  AskOf(3, 2);
  Scale(5);
  int created = 0;
  for (const api::WriteRequest& write : client_.writes)
    if (write.verb == api::WriteRequest::Verb::kCreate && write.resource == "pods") ++created;
  EXPECT_EQ(created, 2);
  Answer(Picks({"a"}));
  EXPECT_THAT(Deleted(), IsEmpty());
}

TEST_F(PickerRaces, WithoutAPickerThereIsNothingToWaitFor) {
  AskOf(3, 2);
  Change("downscalePodPicker", nullptr);
  EXPECT_THAT(Deleted(), SizeIs(1));
  Answer(Picks({"a"}));
  EXPECT_THAT(Deleted(), SizeIs(1));
}

TEST_F(PickerRaces, AnotherPickerIsCalledImmediately) {
  AskOf(3, 2);
  Json other = PickerSpec();
  other["http"]["host"] = "other.default.svc";
  Change("downscalePodPicker", other);
  ASSERT_EQ(caller_.held(), 2u);
  EXPECT_EQ(caller_.calls[1].host, "other.default.svc");
  Answer(Picks({"a"}));
  EXPECT_THAT(Deleted(), IsEmpty());
  Answer(Picks({"c"}));
  EXPECT_THAT(Deleted(), ElementsAre("c"));
}

TEST_F(PickerRaces, WithItsGateOffThereIsNothingToWaitFor) {
  AskOf(3, 2);
  runtime_.gates() = *runtime_.gates().With("DownscalePodPicker=false");
  Change("minReadySeconds", 1);
  EXPECT_THAT(Deleted(), SizeIs(1));
  Answer(Picks({"a"}));
  EXPECT_THAT(Deleted(), SizeIs(1));
}

TEST_F(PickerRaces, OffOnAndOff) {
  AskOf(4, 3);
  Answer(Picks({"a"}));
  EXPECT_THAT(Deleted(), ElementsAre("a"));
  client_.writes.clear();
  runtime_.gates() = *runtime_.gates().With("DownscalePodPicker=false");
  Scale(2);
  EXPECT_THAT(Deleted(), SizeIs(1));
  EXPECT_THAT(caller_.calls, SizeIs(1)) << "no call is made";
  client_.writes.clear();
  runtime_.gates() = *runtime_.gates().With("DownscalePodPicker=true");
  Scale(1);
  EXPECT_THAT(caller_.calls, SizeIs(2));
}

TEST_F(PickerRaces, ADeletedCandidateLeadsToAnotherCall) {
  AskOf(4, 2);
  client_.Remove("pods", {"default", "d"});
  runtime_.RunReady();
  Answer(Picks({"a", "d"}));
  EXPECT_THAT(Deleted(), IsEmpty());
  EXPECT_EQ(Asked(1), Json({{"number_of_pods_requested", 1}, {"candidate_pods", {"a", "b", "c"}}}));
  Answer(Picks({"a"}));
  EXPECT_THAT(Deleted(), ElementsAre("a"));
}

TEST_F(PickerRaces, ACandidateThatIsNoLongerReadyGoesFirst) {
  AskOf(3, 2);
  SetReady("c", false);
  EXPECT_THAT(Deleted(), ElementsAre("c")) << "no call is needed any more";
  Answer(Picks({"a"}));
  EXPECT_THAT(Deleted(), ElementsAre("c"));
}

// Pods that keep changing during a slow call: a late answer counts as a failed call, so that the scale-down
// happens in the end.
TEST_F(PickerRaces, CandidatesThatKeepChangingExhaustTheRetries) {
  AskOf(6, 3);
  for (const char* gone : {"f", "e"}) {
    SetReady(gone, false);
    Answer(Picks({"a", "b", "c"}));
    SetReady(gone, true);
    EXPECT_THAT(Deleted(), IsEmpty());
  }
  ASSERT_THAT(caller_.calls, SizeIs(3));
  SetReady("d", false);
  Answer(Picks({"a", "b", "c"}));
  EXPECT_THAT(Deleted(), SizeIs(3));
  EXPECT_THAT(Events(),
              ElementsAre(testing::HasSubstr("the candidates changed while it was being asked (calls: 3)")));
  EXPECT_TRUE(HasMetric("failures_total{reason=\"stale\"} 1"));
}

TEST_F(PickerRaces, ANewDecisionHasAllItsRetries) {
  AskOf(4, 3);
  Answer(AnswerWith("", 500));
  runtime_.Advance(50ms);
  Answer(AnswerWith("", 500));
  Scale(2);
  ASSERT_EQ(caller_.held(), 1u) << "without a pause";
  for (int i = 0; i < 2; ++i) {
    Answer(AnswerWith("", 500));
    runtime_.Advance(10s);
    ASSERT_EQ(caller_.held(), 1u);
  }
  EXPECT_THAT(Deleted(), IsEmpty());
  Answer(AnswerWith("", 500));
  EXPECT_THAT(Deleted(), SizeIs(2));
  EXPECT_THAT(Events(), ElementsAre(testing::HasSubstr("(calls: 5)")))
      << "those of the earlier decision as well";
}

TEST_F(PickerRaces, AnObsoleteRetryTimerIsNotWork) {
  AskOf(3, 2);
  Answer(AnswerWith("", 500));
  EXPECT_EQ(runtime_.timers(api::TimerKind::kWork), 1u);
  Scale(3);
  EXPECT_EQ(runtime_.timers(api::TimerKind::kWork), 0u);
}

TEST_F(PickerRaces, ARetryAsksWhatIsToBeAskedByThen) {
  AskOf(4, 2);
  Answer(AnswerWith("", 500));
  client_.Remove("pods", {"default", "d"});
  runtime_.Advance(50ms);
  ASSERT_THAT(caller_.calls, SizeIs(2));
  EXPECT_EQ(Asked(1), Json({{"number_of_pods_requested", 1}, {"candidate_pods", {"a", "b", "c"}}}));
}

TEST_F(PickerRaces, AnOwnerThatIsGoneNeedsNoAnswer) {
  AskOf(3, 2);
  client_.Remove("replicasets", {"default", "web"});
  runtime_.RunReady();
  Answer(Picks({"a"}));
  EXPECT_THAT(Deleted(), IsEmpty());
}

TEST_F(PickerRaces, AnOwnerOfTheSameNameAsksForItself) {
  AskOf(3, 2);
  client_.Remove("replicasets", {"default", "web"});
  for (const char* pod : {"a", "b", "c"}) client_.Remove("pods", {"default", pod});
  runtime_.RunReady();
  PutOwner(WithPicker(ReplicaSet("web", 3), PickerSpec()));
  for (const char* pod : {"a", "b", "c"}) PutPod(pod);
  runtime_.RunReady();
  client_.writes.clear();
  Scale(2);
  ASSERT_EQ(caller_.held(), 2u);
  Answer(Picks({"a"}));
  EXPECT_THAT(Deleted(), IsEmpty());
  Answer(Picks({"b"}));
  EXPECT_THAT(Deleted(), ElementsAre("b"));
}

// More unanswered picker calls than the controller has workers.
TEST_F(PickerRaces, AnUnansweredCallDoesNotBlockOtherOwners) {
  for (int i = 0; i < 8; ++i) {
    const std::string name = "slow-" + std::to_string(i);
    PutOwner(WithPicker(ReplicaSet(name, 2), PickerSpec()));
    for (const char* pod : {"a", "b"}) PutPod(name + pod, name);
    runtime_.RunReady();
    Put(WithPicker(ReplicaSet(name, 1), PickerSpec()));
  }
  ASSERT_EQ(caller_.held(), 8u);
  PutOwner(ReplicaSet("web", 2));
  for (const char* pod : {"a", "b"}) PutPod(pod);
  runtime_.RunReady();
  Scale(1);
  EXPECT_THAT(Deleted(), SizeIs(1));
  for (int i = 0; i < 8; ++i) Answer(Picks({Asked(static_cast<std::size_t>(i))["candidate_pods"][0]}));
  EXPECT_THAT(Deleted(), SizeIs(9));
}

TEST_F(PickerRaces, ABurstAsksForWhatItDeletes) {
  Put(WithPicker(ReplicaSet("web", 600), PickerSpec()));
  client_.writes.clear();
  const std::vector<ObjectPtr> pods = client_.List("pods", "default")->items;
  for (const ObjectPtr& pod : pods) PutPod(pod->header().name);
  runtime_.RunReady();
  informers_->For("pods").Pause();
  Scale(50);
  ASSERT_THAT(caller_.calls, SizeIs(1));
  EXPECT_EQ(Asked(0)["number_of_pods_requested"], 500);
  EXPECT_THAT(Asked(0)["candidate_pods"], SizeIs(600));
  const std::string last = Asked(0)["candidate_pods"][599];
  Answer(Picks({last}));
  EXPECT_THAT(Deleted(), SizeIs(500));
  EXPECT_THAT(Deleted(), testing::Contains(last));
  EXPECT_THAT(caller_.calls, SizeIs(1)) << "the next burst waits until all of this one have been seen";
  informers_->For("pods").Resume();
  runtime_.RunReady();
  ASSERT_THAT(caller_.calls, SizeIs(2));
  EXPECT_EQ(Asked(1)["number_of_pods_requested"], 50);
  EXPECT_THAT(Asked(1)["candidate_pods"], SizeIs(100));
}

TEST_F(PickerRaces, AnAnswerAfterTheControllersEndDoesNothing) {
  AskOf(3, 2);
  controller_.reset();
  Answer(Picks({"a"}));
  EXPECT_THAT(Deleted(), IsEmpty());
}

TEST_F(PickerRaces, AnAnswerThatIsOnItsWayAtTheEndDoesNothing) {
  AskOf(3, 2);
  caller_.Answer(Picks({"a"}));
  controller_.reset();
  runtime_.RunReady();
  EXPECT_THAT(Deleted(), IsEmpty());
}

TEST_F(PickerRaces, AfterACrashTheNextControllerAsksAgain) {
  AskOf(3, 2);
  controller_.reset();
  StartController();
  ASSERT_EQ(caller_.held(), 2u);
  Answer(Picks({"a"}));
  EXPECT_THAT(Deleted(), IsEmpty()) << "that was the answer to one that is no more";
  Answer(Picks({"b"}));
  EXPECT_THAT(Deleted(), ElementsAre("b"));
}

TEST_F(PickerRaces, ACallWithoutACallerIsAFault) {
  AskOf(3, 2, PickerSpec({{"maxRetries", 0}}));
  Answer(Fails(api::HttpAnswer::Outcome::kRefused, "shutting down"));
  EXPECT_THAT(Deleted(), SizeIs(1));
}

// Answers every call from its own thread, once Release() is called.
class ThreadedCaller : public api::HttpCaller {
 public:
  ~ThreadedCaller() override {
    if (thread_.joinable()) thread_.join();
  }
  void Call(api::HttpCall, std::function<void(api::HttpAnswer)> done) override {
    if (thread_.joinable()) thread_.join();
    thread_ = std::thread([this, done = std::move(done)] {
      std::unique_lock lock(mutex_);
      released_.wait(lock, [this] { return may_answer_; });
      lock.unlock();
      done(Picks({"p0"}));
    });
  }
  void Release() {
    std::lock_guard lock(mutex_);
    may_answer_ = true;
    released_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable released_;
  bool may_answer_ = false;
  std::thread thread_;
};

TEST(PickerOnAThread, TheVirtualClockStandsUntilItAnswers) {
  ThreadedCaller caller;
  controllers_testing::ReplicaBed bed(
      {.feature_gates = controllers_testing::kPickerOn, .nodes = 1, .http_caller = &caller});
  controllers_testing::MakePods(bed, {nullptr, nullptr});
  const ObjectPtr owner = bed.Must(bed.Create("replicasets", "default", WithPicker(ReplicaSet("web", 2))));
  bed.Settle();
  const api::Time start = bed.Now();
  bed.Scale("replicasets", "web", 1);
  std::thread later([&caller] { caller.Release(); });
  bed.clock().RunUntil([&] { return bed.Get("pods", "default", "p0")->header().deleting; }, 1h);
  EXPECT_EQ(bed.Now(), start) << "however long it took";
  bed.Settle();
  EXPECT_THAT(bed.PodNamesOf(owner), ElementsAre("p1"));
  later.join();
}

TEST(PickerOnAThread, AClusterMayEndWhileACallIsUnderWay) {
  ThreadedCaller caller;
  {
    controllers_testing::ReplicaBed bed(
        {.feature_gates = controllers_testing::kPickerOn, .nodes = 1, .http_caller = &caller});
    controllers_testing::MakePods(bed, {nullptr, nullptr});
    bed.Must(bed.Create("replicasets", "default", WithPicker(ReplicaSet("web", 2))));
    bed.Settle();
    bed.Scale("replicasets", "web", 1);
    bed.clock().RunUntil([&] { return bed.control_plane().runtime().OutsideUnderWay(); }, 1h);
  }
  caller.Release();
}

}  // namespace
}  // namespace terrarium::controllers
