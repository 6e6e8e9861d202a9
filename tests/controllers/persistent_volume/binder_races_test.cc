// A binding that is interrupted between its writes, stale views and failing requests, against a fake
// apiserver.

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/errors.h"
#include "api/json_access.h"
#include "controllers/persistent_volume/persistent_volume_controller.h"
#include "tests/controllers/runtime/fake_client.h"
#include "tests/controllers/runtime/fake_runtime.h"

namespace terrarium::controllers {
namespace {

using api::Json;
using api::StringAt;
using controllers_testing::FakeClient;
using controllers_testing::FakeRuntime;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Verb = api::WriteRequest::Verb;
using namespace std::chrono_literals;

class BinderRaces : public testing::Test {
 protected:
  BinderRaces() { StartController(); }

  void StartController() {
    ControllerContext context{runtime_.env(), client_, informers_, recorder_, metrics_, why_};
    controller_ = MakePersistentVolumeController(context);
    informers_.OnSynced([this] { controller_->Start(); });
    informers_.Start();
    runtime_.RunReady();
  }
  void PutVolume(const std::string& name, Json spec = Json::object(), const char* phase = "Available") {
    Json volume = {{"metadata", {{"name", name}, {"uid", name + "-uid"}}},
                   {"spec",
                    {{"accessModes", {"ReadWriteOnce"}},
                     {"capacity", {{"storage", "5Gi"}}},
                     {"storageClassName", "manual"},
                     {"persistentVolumeReclaimPolicy", "Delete"},
                     {"hostPath", {{"path", "/tmp/" + name}}}}},
                   {"status", {{"phase", phase}}}};
    volume["spec"].merge_patch(spec);
    client_.Put("persistentvolumes", volume);
  }
  void PutClaim(const std::string& uid = "data-uid") {
    client_.Put("persistentvolumeclaims",
                {{"metadata", {{"namespace", "default"}, {"name", "data"}, {"uid", uid}}},
                 {"spec",
                  {{"accessModes", {"ReadWriteOnce"}},
                   {"storageClassName", "manual"},
                   {"resources", {{"requests", {{"storage", "2Gi"}}}}}}},
                 {"status", {{"phase", "Pending"}}}});
  }
  Json Volume(const std::string& name) {
    const auto volume = client_.Find("persistentvolumes", {"", name});
    return volume == nullptr ? Json() : volume->Parse();
  }
  Json Claim() { return client_.Find("persistentvolumeclaims", {"default", "data"})->Parse(); }
  // The writes of volumes and claims so far: "persistentvolumes/status", ...
  std::vector<std::string> Writes() {
    std::vector<std::string> out;
    for (const api::WriteRequest& write : client_.writes)
      if (write.resource.starts_with("persistent"))
        out.push_back(write.resource + (write.subresource.empty() ? "" : "/" + write.subresource));
    return out;
  }

  FakeRuntime runtime_;
  FakeClient client_{runtime_};
  InformerSet informers_{runtime_.env(), client_};
  EventRecorder recorder_{runtime_.env(), client_};
  Metrics metrics_;
  WhyLog why_;
  std::unique_ptr<Controller> controller_;
};

TEST_F(BinderRaces, TheVolumeIsWrittenFirst) {
  PutVolume("pv");
  runtime_.RunReady();
  PutClaim();
  runtime_.RunReady();
  EXPECT_THAT(Writes(), ElementsAre("persistentvolumes", "persistentvolumes/status", "persistentvolumeclaims",
                                    "persistentvolumeclaims/status"));
  EXPECT_EQ(Claim()["status"]["phase"], "Bound");
}

TEST_F(BinderRaces, ABindingIsFinishedAfterEachFailedWrite) {
  for (std::size_t failing = 0; failing < 4; ++failing) {
    if (failing > 0) {
      client_.Remove("persistentvolumeclaims", {"default", "data"});
      client_.Remove("persistentvolumes", {"", "pv"});
      runtime_.RunReady();
    }
    PutVolume("pv");
    runtime_.RunReady();
    client_.write_failures.assign(failing, std::nullopt);
    client_.write_failures.push_back(api::InternalError("try again"));
    PutClaim("uid-" + std::to_string(failing));
    runtime_.Advance(1s);
    EXPECT_EQ(Claim()["spec"]["volumeName"], "pv") << failing;
    EXPECT_EQ(Claim()["status"]["phase"], "Bound") << failing;
    EXPECT_EQ(Volume("pv")["status"]["phase"], "Bound") << failing;
    EXPECT_EQ(Volume("pv")["spec"]["claimRef"]["uid"], "uid-" + std::to_string(failing));
  }
}

TEST_F(BinderRaces, AStaleViewOfTheVolumesBindsNoneTwice) {
  PutVolume("pv");
  runtime_.RunReady();
  informers_.For("persistentvolumes").Pause();
  PutClaim();
  runtime_.RunReady();
  EXPECT_EQ(Claim()["spec"]["volumeName"], "pv");
  const std::size_t writes = Writes().size();
  client_.Put("persistentvolumeclaims", {{"metadata", {{"namespace", "default"}, {"name", "other"}}},
                                         {"spec",
                                          {{"accessModes", {"ReadWriteOnce"}},
                                           {"storageClassName", "manual"},
                                           {"resources", {{"requests", {{"storage", "1Gi"}}}}}}},
                                         {"status", {{"phase", "Pending"}}}});
  runtime_.RunReady();
  EXPECT_EQ(Writes().size(), writes) << "the binder knows its own write";
}

TEST_F(BinderRaces, AVolumeIsNotReclaimedWhileTheViewOfTheClaimsIsOld) {
  informers_.For("persistentvolumeclaims").Pause();
  PutClaim();
  PutVolume("pv", {{"claimRef", {{"namespace", "default"}, {"name", "data"}, {"uid", "data-uid"}}}}, "Bound");
  runtime_.RunReady();
  EXPECT_EQ(Volume("pv")["status"]["phase"], "Bound");
  EXPECT_THAT(Writes(), IsEmpty());
}

TEST_F(BinderRaces, AClaimOfThatNameWithAnotherUidDoesNotKeepTheVolume) {
  PutVolume("pv", {{"claimRef", {{"namespace", "default"}, {"name", "data"}, {"uid", "old"}}}}, "Bound");
  PutClaim("new");
  runtime_.RunReady();
  EXPECT_TRUE(Volume("pv").is_null()) << "released and deleted";
}

TEST_F(BinderRaces, AProvisionedVolumeThatIsNotNeededIsReleased) {
  PutVolume("taken", {{"claimRef", {{"namespace", "default"}, {"name", "data"}, {"uid", "data-uid"}}}});
  PutClaim();
  runtime_.RunReady();
  ASSERT_EQ(Claim()["spec"]["volumeName"], "taken");
  client_.Put(
      "persistentvolumes",
      {{"metadata",
        {{"name", "late"}, {"annotations", {{"pv.kubernetes.io/provisioned-by", "disk.example.com"}}}}},
       {"spec",
        {{"accessModes", {"ReadWriteOnce"}},
         {"capacity", {{"storage", "5Gi"}}},
         {"storageClassName", "manual"},
         {"persistentVolumeReclaimPolicy", "Delete"},
         {"claimRef", {{"namespace", "default"}, {"name", "data"}, {"uid", "data-uid"}}}}},
       {"status", {{"phase", "Pending"}}}});
  runtime_.RunReady();
  EXPECT_EQ(Volume("late")["status"]["phase"], "Released");
  EXPECT_EQ(Claim()["spec"]["volumeName"], "taken");
}

TEST_F(BinderRaces, AVolumeThatLostAgainstAnotherIsFreeAgain) {
  PutVolume("winner", {{"claimRef", {{"namespace", "default"}, {"name", "data"}, {"uid", "data-uid"}}}});
  PutClaim();
  runtime_.RunReady();
  client_.Put(
      "persistentvolumes",
      {{"metadata", {{"name", "loser"}, {"annotations", {{"pv.kubernetes.io/bound-by-controller", "yes"}}}}},
       {"spec",
        {{"accessModes", {"ReadWriteOnce"}},
         {"capacity", {{"storage", "5Gi"}}},
         {"claimRef", {{"namespace", "default"}, {"name", "data"}, {"uid", "data-uid"}}}}},
       {"status", {{"phase", "Bound"}}}});
  runtime_.RunReady();
  const Json loser = Volume("loser");
  EXPECT_FALSE(loser["spec"].contains("claimRef"));
  EXPECT_FALSE(loser["metadata"].contains("annotations"));
  EXPECT_EQ(loser["status"]["phase"], "Available");
}

}  // namespace
}  // namespace terrarium::controllers
