// Volumes, their sources, and where containers mount them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/apiserver/pod_fixture.h"

namespace terrarium::apiserver::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;

Json PodWithVolume(const Json& volume) { return PodWithSpec({{"volumes", Json::array({volume})}}); }

Json PodWithMount(const Json& mount) {
  return PodWithSpec(
      {{"volumes", Json::array({Json{{"name", "v"}}})},
       {"containers",
        Json::array({Json{{"name", "c"}, {"image", "i"}, {"volumeMounts", Json::array({mount})}}})}});
}

void RunCases(const std::vector<PodCase>& cases) {
  for (const PodCase& test : cases) {
    EXPECT_THAT(CreateErrors(test.pod), ElementsAreArray(test.errors)) << test.name;
  }
}

TEST(PodVolumes, HaveOneNameAndOneSource) {
  RunCases({
      {"two sources",
       PodWithVolume({{"name", "v"}, {"emptyDir", Json::object()}, {"configMap", {{"name", "m"}}}}),
       {"spec.volumes[0].configMap: Forbidden: may not specify more than 1 volume type"}},
      {"no name", PodWithVolume({{"emptyDir", Json::object()}}), {"spec.volumes[0].name: Required value"}},
      {"same name twice",
       PodWithSpec({{"volumes", Json::array({Json{{"name", "v"}}, Json{{"name", "v"}}})}}),
       {"spec.volumes[1].name: Duplicate value: \"v\""}},
  });
}

TEST(PodVolumes, SourcesHaveWhatTheyNeed) {
  const std::string path = "spec.volumes[0].";
  RunCases({
      {"secret",
       PodWithVolume({{"name", "v"}, {"secret", {{"defaultMode", 512}}}}),
       {path + "secret.secretName: Required value",
        path + "secret.defaultMode: Invalid value: 512: must be a number between 0 and 0777 (octal), both "
               "inclusive"}},
      {"configMap item",
       PodWithVolume(
           {{"name", "v"},
            {"configMap", {{"name", "m"}, {"items", Json::array({Json{{"key", "k"}, {"path", "../x"}}})}}}}),
       {path + "configMap.items[0].path: Invalid value: \"../x\": must not contain '..'"}},
      {"hostPath type",
       PodWithVolume({{"name", "v"}, {"hostPath", {{"path", "/x"}, {"type", "Lake"}}}}),
       {path + "hostPath.type: Unsupported value: \"Lake\": supported values: \"\", \"BlockDevice\", "
               "\"CharDevice\", "
               "\"Directory\", \"DirectoryOrCreate\", \"File\", \"FileOrCreate\", \"Socket\""}},
      {"nfs",
       PodWithVolume({{"name", "v"}, {"nfs", {{"server", "s"}, {"path", "x"}}}}),
       {path + "nfs.path: Invalid value: \"x\": must be an absolute path"}},
      {"claim",
       PodWithVolume({{"name", "v"}, {"persistentVolumeClaim", Json::object()}}),
       {path + "persistentVolumeClaim.claimName: Required value"}},
      {"disk errors are reported under Kubernetes' own name for it",
       PodWithVolume({{"name", "v"}, {"gcePersistentDisk", {{"partition", 300}}}}),
       {path + "persistentDisk.pdName: Required value",
        path + "persistentDisk.partition: Invalid value: 300: must be between 1 and 255, inclusive"}},
      {"csi", PodWithVolume({{"name", "v"}, {"csi", Json::object()}}), {path + "csi.driver: Required value"}},
      {"iscsi",
       PodWithVolume({{"name", "v"},
                      {"iscsi", {{"targetPortal", "t"}, {"iqn", "iqn.2001-04.com.x:disk"}, {"lun", 0}}}}),
       {}},
      {"image",
       PodWithVolume({{"name", "v"}, {"image", {{"pullPolicy", "Always"}}}}),
       {path + "image.reference: Required value"}},
      {"ephemeral claim",
       PodWithVolume({{"name", "v"},
                      {"ephemeral",
                       {{"volumeClaimTemplate",
                         {{"spec", {{"accessModes", {"ReadWriteOncePod", "ReadOnlyMany"}}}}}}}}}),
       {path + "ephemeral.volumeClaimTemplate.spec.accessModes: Forbidden: may not use ReadWriteOncePod with "
               "other access "
               "modes",
        path + "ephemeral.volumeClaimTemplate.spec.resources[storage]: Required value"}},
  });
}

TEST(PodVolumes, ProjectedFilesDoNotCollide) {
  const Json items = Json::array({Json{{"key", "k"}, {"path", "a"}}});
  const Json volume = {
      {"name", "v"},
      {"projected",
       {{"sources",
         Json::array({Json{{"secret", {{"name", "s"}, {"items", items}}}},
                      Json{{"configMap", {{"name", "m"}, {"items", items}}}},
                      Json{{"serviceAccountToken", {{"path", "t"}, {"expirationSeconds", 60}}}}})}}}};
  EXPECT_THAT(
      CreateErrors(PodWithVolume(volume)),
      ElementsAre(
          "spec.volumes[0].projected: Invalid value: \"m\": conflicting duplicate paths",
          "spec.volumes[0].projected.sources[2].serviceAccountToken.expirationSeconds: Invalid value: "
          "60: may not specify a duration less than 10 minutes",
          "spec.volumes[0].projected.sources[2].serviceAccountToken: Forbidden: must not be specified "
          "when serviceAccountName is not set"));
}

TEST(PodVolumeMounts, NameAVolumeOnce) {
  const std::string path = "spec.containers[0].volumeMounts";
  RunCases({
      {"unknown volume",
       PodWithMount({{"name", "nope"}, {"mountPath", "/x"}}),
       {path + "[0].name: Not found: \"nope\""}},
      {"no path", PodWithMount({{"name", "v"}}), {path + "[0].mountPath: Required value"}},
      {"sub path that climbs",
       PodWithMount({{"name", "v"}, {"mountPath", "/x"}, {"subPath", "a/../b"}}),
       {path + ".subPath: Invalid value: \"a/../b\": must not contain '..'"}},
      {"propagation of the privileged",
       PodWithMount({{"name", "v"}, {"mountPath", "/x"}, {"mountPropagation", "Bidirectional"}}),
       {path +
        ".mountPropagation: Forbidden: Bidirectional mount propagation is available only to privileged "
        "containers"}},
      {"recursive read only of a writable mount",
       PodWithMount({{"name", "v"}, {"mountPath", "/x"}, {"recursiveReadOnly", "Enabled"}}),
       {path + ".recursiveReadOnly: Forbidden: may only be specified when readOnly is true"}},
  });
}

TEST(PodVolumeMounts, SamePathTwiceIsRefused) {
  const Json mount = {{"name", "v"}, {"mountPath", "/x"}};
  EXPECT_THAT(
      CreateErrors(PodWithSpec(
          {{"volumes", Json::array({Json{{"name", "v"}}})},
           {"containers",
            Json::array(
                {Json{{"name", "c"}, {"image", "i"}, {"volumeMounts", Json::array({mount, mount})}}})}})),
      ElementsAre("spec.containers[0].volumeMounts[1].mountPath: Invalid value: \"/x\": must be unique"));
}

TEST(PodVolumeDevices, NeedAClaim) {
  const auto pod = [](const Json& volume) {
    return PodWithSpec(
        {{"volumes", Json::array({volume})},
         {"containers",
          Json::array({Json{{"name", "c"},
                            {"image", "i"},
                            {"volumeDevices", Json::array({Json{{"name", "v"}, {"devicePath", "/d"}}})}}})}});
  };
  EXPECT_THAT(CreateErrors(pod({{"name", "v"}, {"persistentVolumeClaim", {{"claimName", "c"}}}})), IsEmpty());
  EXPECT_THAT(
      CreateErrors(pod({{"name", "v"}})),
      ElementsAre(
          "spec.containers[0].volumeDevices[0].name: Invalid value: \"v\": can only use volume source "
          "type of PersistentVolumeClaim or Ephemeral for block mode"));
}

}  // namespace
}  // namespace terrarium::apiserver::testing
