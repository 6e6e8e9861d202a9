// Changes between the controller's sync and its writes, stale views, and refused writes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/errors.h"
#include "api/json_access.h"
#include "controllers/daemonset/daemonset_controller.h"
#include "controllers/runtime/owner_references.h"
#include "tests/controllers/daemonset/daemon_testing.h"
#include "tests/controllers/runtime/fake_client.h"
#include "tests/controllers/runtime/fake_runtime.h"

namespace terrarium::controllers {
namespace {

using api::Json;
using api::ObjectPtr;
using controllers_testing::Agent;
using controllers_testing::FakeClient;
using controllers_testing::FakeRuntime;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Verb = api::WriteRequest::Verb;
using namespace std::chrono_literals;

class DaemonSetRaces : public ::testing::Test {
 protected:
  DaemonSetRaces() {
    ControllerContext context{runtime_.env(), client_, informers_, recorder_, metrics_, why_};
    controller_ = MakeDaemonSetController(context);
    informers_.OnSynced([this] { controller_->Start(); });
    informers_.Start();
    runtime_.RunReady();
  }

  void PutNodes(int count) {
    for (int i = 0; i < count; ++i)
      client_.Put("nodes", {{"metadata", {{"name", "node-" + std::to_string(1000 + i)}}}});
    runtime_.RunReady();
  }
  ObjectPtr Put(const std::string& image = "agent:1") {
    Json agent = Agent(image);
    agent["metadata"]["namespace"] = "default";
    agent["metadata"]["generation"] = ++generation_;
    agent["spec"]["updateStrategy"] = {{"type", "RollingUpdate"}, {"rollingUpdate", {{"maxUnavailable", 1}}}};
    if (ObjectPtr current = Owner()) agent["status"] = api::ObjectAt(*current->Document(), "status");
    ObjectPtr put = client_.Put("daemonsets", agent);
    runtime_.RunReady();
    return put;
  }
  ObjectPtr Owner() { return client_.Find("daemonsets", {"default", "agent"}); }
  Json Status() { return api::ObjectAt(*Owner()->Document(), "status"); }
  // Enqueues the DaemonSet, though nothing in it has changed.
  void Touch() {
    Json owner = Owner()->Parse();
    owner["metadata"]["annotations"]["touched"] = std::to_string(++touches_);
    client_.Put("daemonsets", owner);
    runtime_.RunReady();
  }
  std::vector<api::WriteRequest> Writes(Verb verb, const std::string& resource = "pods") {
    std::vector<api::WriteRequest> found;
    for (const api::WriteRequest& write : client_.writes)
      if (write.verb == verb && write.resource == resource) found.push_back(write);
    return found;
  }
  std::vector<std::string> Events() {
    std::vector<std::string> events;
    for (const api::WriteRequest& write : event_client_.writes)
      events.push_back(std::string(api::StringAt(write.body, "reason")) + ": " +
                       std::string(api::StringAt(write.body, "message")));
    return events;
  }
  void SetReady() {
    const api::Result<api::ObjectList> pods = client_.List("pods", std::nullopt);
    for (const ObjectPtr& object : pods->items) {
      Json pod = object->Parse();
      if (object->header().deleting || !object->header().node_name.empty()) continue;
      pod["spec"]["nodeName"] =
          pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
             ["nodeSelectorTerms"][0]["matchFields"][0]["values"][0];
      pod["metadata"]["finalizers"] = {"example.com/hold"};  // a delete only marks it
      pod["status"] = {
          {"phase", "Running"},
          {"conditions",
           {{{"type", "Ready"}, {"status", "True"}, {"lastTransitionTime", "2026-01-01T00:00:00Z"}}}}};
      client_.Put("pods", pod);
    }
    runtime_.RunReady();
  }
  static api::Status QuotaExceeded() {
    return api::Forbidden({"", "pods"}, "agent-x", "exceeded quota: few");
  }
  static api::Status Terminating() {
    api::Status status =
        api::Forbidden({"", "pods"}, "agent-x", "unable to create new content in namespace default");
    status.details->causes.push_back({"NamespaceTerminating", "namespace default is being terminated", ""});
    return status;
  }

  FakeRuntime runtime_;
  FakeClient client_{runtime_};
  FakeClient event_client_{runtime_};
  InformerSet informers_{runtime_.env(), client_};
  EventRecorder recorder_{runtime_.env(), event_client_};
  Metrics metrics_;
  WhyLog why_;
  std::unique_ptr<Controller> controller_;
  int generation_ = 0;
  int touches_ = 0;
};

TEST_F(DaemonSetRaces, PodsThatWereCreatedAndNotYetSeenAreNotCreatedAgain) {
  PutNodes(3);
  informers_.For("pods").Pause();
  Put();
  EXPECT_THAT(Writes(Verb::kCreate), SizeIs(3));
  Touch();
  Touch();
  EXPECT_THAT(Writes(Verb::kCreate), SizeIs(3));
  EXPECT_EQ(api::IntAt(Status(), 0, "currentNumberScheduled"), 0);
  informers_.For("pods").Resume();
  runtime_.RunReady();
  EXPECT_THAT(Writes(Verb::kCreate), SizeIs(3));
  EXPECT_EQ(api::IntAt(Status(), 0, "currentNumberScheduled"), 3);
}

TEST_F(DaemonSetRaces, CreationsThatAreNeverSeenAreForgottenAfterFiveMinutes) {
  PutNodes(1);
  informers_.For("pods").Pause();
  Put();
  runtime_.Advance(5min + 1s);
  Touch();
  EXPECT_THAT(Writes(Verb::kCreate), SizeIs(2));
}

TEST_F(DaemonSetRaces, AStepHasAtMost250Creations) {
  PutNodes(300);
  informers_.For("pods").Pause();
  Put();
  EXPECT_THAT(Writes(Verb::kCreate), SizeIs(250));
  informers_.For("pods").Resume();
  runtime_.RunReady();
  EXPECT_THAT(Writes(Verb::kCreate), SizeIs(300));
}

TEST_F(DaemonSetRaces, ARejectedCreationIsReportedAndRepeated) {
  PutNodes(20);
  // The revision, then batches of 1, 2 and 4.
  for (int i = 0; i < 4; ++i) client_.write_failures.push_back(std::nullopt);
  client_.write_failures.push_back(QuotaExceeded());
  Put();
  runtime_.Advance(1min);
  EXPECT_THAT(client_.List("pods", std::nullopt)->items, SizeIs(20));
  EXPECT_THAT(Writes(Verb::kCreate), SizeIs(21)) << "only one creation was repeated";
  EXPECT_THAT(Events(),
              ::testing::Contains(
                  "FailedCreate: Error creating: pods \"agent-x\" is forbidden: exceeded quota: few"));
}

TEST_F(DaemonSetRaces, ATerminatingNamespaceIsNotTriedAgain) {
  PutNodes(3);
  client_.write_failures.push_back(std::nullopt);  // the revision
  client_.write_failures.push_back(Terminating());
  Put();
  runtime_.Advance(1min);
  Touch();
  EXPECT_THAT(Writes(Verb::kCreate), SizeIs(1));
  EXPECT_THAT(Events(), IsEmpty());
}

TEST_F(DaemonSetRaces, ARevisionThatWasCreatedAndNotYetSeenIsFoundAgain) {
  PutNodes(1);
  informers_.For("controllerrevisions").Pause();
  Put();
  Put("agent:2");
  Put("agent:1");
  EXPECT_THAT(client_.List("controllerrevisions", std::nullopt)->items, SizeIs(2));
}

TEST_F(DaemonSetRaces, DeletionsThatAreNotYetSeenAreNotRepeated) {
  PutNodes(4);
  Put();
  SetReady();
  informers_.For("pods").Pause();
  Put("agent:2");
  Touch();
  Touch();
  EXPECT_THAT(Writes(Verb::kDelete), SizeIs(1));
  informers_.For("pods").Resume();
  runtime_.RunReady();
  EXPECT_THAT(Writes(Verb::kDelete), SizeIs(1)) << "the terminating pod is not available";
}

TEST_F(DaemonSetRaces, AnAdoptionRechecksTheLiveOwner) {
  PutNodes(1);
  Put();
  Json orphan = {{"metadata", {{"name", "orphan"}, {"namespace", "default"}, {"labels", {{"app", "agent"}}}}},
                 {"spec", {{"nodeName", "node-1000"}}}};
  informers_.For("daemonsets").Pause();
  Json owner = Owner()->Parse();
  owner["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  owner["metadata"]["finalizers"] = {"foregroundDeletion"};
  client_.Put("daemonsets", owner);
  client_.Put("pods", orphan);
  runtime_.RunReady();
  EXPECT_THAT(Writes(Verb::kPatch), IsEmpty());
}

TEST_F(DaemonSetRaces, AStatusConflictIsRetriedWithTheLiveObject) {
  PutNodes(2);
  informers_.For("daemonsets").Pause();
  Put();
  informers_.For("daemonsets").Resume();
  client_.HoldWrites();
  runtime_.RunReady();
  Json owner = Owner()->Parse();
  owner["metadata"]["annotations"]["by"] = "another client";
  client_.Put("daemonsets", owner);
  client_.ReleaseWrites();
  runtime_.RunReady();
  EXPECT_EQ(api::IntAt(Status(), 0, "desiredNumberScheduled"), 2);
  EXPECT_EQ(api::StringAt(*Owner()->Document(), "metadata", "annotations", "by"), "another client");
}

TEST_F(DaemonSetRaces, ASettledDaemonSetIsNotWritten) {
  PutNodes(3);
  Put();
  SetReady();
  client_.writes.clear();
  Touch();
  Touch();
  EXPECT_THAT(client_.writes, IsEmpty());
}

TEST_F(DaemonSetRaces, DuplicatesOfTheCurrentRevisionAreRemoved) {
  PutNodes(2);
  ObjectPtr owner = Put();
  SetReady();
  ObjectPtr first = client_.List("controllerrevisions", std::nullopt)->items[0];
  Json copy = first->Parse();
  copy["metadata"]["name"] = "agent-copy";
  copy["metadata"].erase("uid");
  copy["metadata"]["labels"].erase("controller-revision-hash");
  copy["revision"] = 7;
  client_.Put("controllerrevisions", copy);
  Touch();
  runtime_.RunReady();
  std::vector<ObjectPtr> left = client_.List("controllerrevisions", std::nullopt)->items;
  ASSERT_THAT(left, SizeIs(1));
  EXPECT_EQ(left[0]->header().name, "agent-copy");
  EXPECT_EQ(*api::FindLabel(left[0]->header(), "controller-revision-hash"), "agent-copy");
  const std::vector<ObjectPtr> pods = client_.List("pods", std::nullopt)->items;
  EXPECT_THAT(pods, SizeIs(2));
  for (const ObjectPtr& pod : pods)
    EXPECT_EQ(*api::FindLabel(pod->header(), "controller-revision-hash"), "agent-copy");
}

TEST_F(DaemonSetRaces, AnUnboundPodOfANodeThatIsGoneIsDeleted) {
  PutNodes(2);
  Put();
  EXPECT_THAT(Writes(Verb::kCreate), SizeIs(2));
  client_.Remove("nodes", {"", "node-1001"});
  runtime_.RunReady();
  EXPECT_THAT(Writes(Verb::kDelete), IsEmpty()) << "the end of a node enqueues nothing";
  Touch();
  EXPECT_THAT(Writes(Verb::kDelete), SizeIs(1));
  EXPECT_EQ(api::IntAt(Status(), 0, "desiredNumberScheduled"), 1);
}

}  // namespace
}  // namespace terrarium::controllers
