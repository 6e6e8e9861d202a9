// Server-side printing: the columns and cells that kubectl shows.

#include "apiserver/table/table.h"

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "api/base/clock.h"
#include "apiserver/table/human_duration.h"
#include "apiserver/table/partial_metadata.h"

namespace terrarium::apiserver {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::string_view kCreated = "2026-01-01T00:00:00Z";

TableOptions Options() {
  TableOptions options;
  options.include_object = IncludeObject::kNone;
  options.now = *api::ParseTime("2026-01-01T00:05:00Z");  // everything is five minutes old
  return options;
}

Json Document(std::string_view text) {
  Json document = Json::parse(text);
  document["metadata"]["name"] = "x";
  document["metadata"]["creationTimestamp"] = kCreated;
  return document;
}

Json TableOf(std::string_view group, std::string_view kind, const Json& document,
             const TableOptions& options) {
  return MakeTable({group, "v1", kind}, std::span<const Json>(&document, 1), {"7", "", {}}, options);
}

// The cells of one object.
Json Cells(std::string_view group, std::string_view kind, std::string_view text) {
  return TableOf(group, kind, Document(text), Options())["rows"][0]["cells"];
}

// Ready, Status and Restarts of a pod.
std::string PodLine(std::string_view text) {
  Json cells = Cells("", "Pod", text);
  return cells[1].get<std::string>() + " " + cells[2].get<std::string>() + " " + cells[3].get<std::string>();
}

TEST(HumanDuration, KeepsTwoOrThreeFigures) {
  EXPECT_EQ(HumanDuration(seconds(-2)), "<invalid>");
  EXPECT_EQ(HumanDuration(seconds(-1)), "0s");
  EXPECT_EQ(HumanDuration(seconds(0)), "0s");
  EXPECT_EQ(HumanDuration(seconds(119)), "119s");
  EXPECT_EQ(HumanDuration(seconds(120)), "2m");
  EXPECT_EQ(HumanDuration(seconds(125)), "2m5s");
  EXPECT_EQ(HumanDuration(minutes(10) + seconds(59)), "10m");
  EXPECT_EQ(HumanDuration(minutes(179)), "179m");
  EXPECT_EQ(HumanDuration(hours(3)), "3h");
  EXPECT_EQ(HumanDuration(hours(7) + minutes(59)), "7h59m");
  EXPECT_EQ(HumanDuration(hours(8) + minutes(59)), "8h");
  EXPECT_EQ(HumanDuration(hours(47)), "47h");
  EXPECT_EQ(HumanDuration(hours(48)), "2d");
  EXPECT_EQ(HumanDuration(hours(51)), "2d3h");
  EXPECT_EQ(HumanDuration(hours(24 * 8)), "8d");
  EXPECT_EQ(HumanDuration(hours(24 * 729)), "729d");
  EXPECT_EQ(HumanDuration(hours(24 * 731)), "2y1d");
  EXPECT_EQ(HumanDuration(hours(24 * 365 * 9)), "9y");
}

TEST(PodTable, PendingPodShowsItsNodeAndNoAddress) {
  EXPECT_EQ(Cells("", "Pod",
                  R"({"spec":{"containers":[{"name":"c"}],"nodeName":"n1"},"status":{"phase":"Pending"}})"),
            Json::parse(R"(["x","0/1","Pending","0","5m","<none>","n1","<none>","<none>"])"));
}

TEST(PodTable, StatusIsThatOfTheFirstContainerWithAReason) {
  constexpr std::string_view kTwo =
      R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]},"status":{"phase":"Running",)";
  auto pod = [&](std::string_view rest) { return std::string(kTwo).append(rest).append("}}"); };
  EXPECT_EQ(PodLine(pod(R"("containerStatuses":[{"ready":true,"state":{"running":{}}},
                                                 {"ready":true,"state":{"running":{}}}])")),
            "2/2 Running 0");
  EXPECT_EQ(PodLine(pod(R"("containerStatuses":[{"state":{"waiting":{"reason":"ImagePullBackOff"}}},
                                                 {"state":{"waiting":{"reason":"CrashLoopBackOff"}}}])")),
            "0/2 ImagePullBackOff 0");
  EXPECT_EQ(PodLine(pod(R"("containerStatuses":[{"ready":true,"state":{"running":{}}},
                                                 {"state":{"terminated":{"exitCode":3}}}])")),
            "1/2 ExitCode:3 0");
  EXPECT_EQ(PodLine(pod(R"("containerStatuses":[{"state":{"terminated":{"exitCode":137,"signal":9}}}])")),
            "0/2 Signal:9 0");
}

TEST(PodTable, OneCompletedContainerDoesNotCompleteThePod) {
  constexpr std::string_view kDone = R"({"state":{"terminated":{"exitCode":0,"reason":"Completed"}}})";
  auto pod = [&](std::string_view other, std::string_view ready) {
    return R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]},"status":{"phase":"Running","conditions":[{"type":)"
           R"("Ready","status":")" +
           std::string(ready) + R"("}],"containerStatuses":[)" + std::string(kDone) + "," +
           std::string(other) + "]}}";
  };
  EXPECT_EQ(PodLine(pod(R"({"ready":true,"state":{"running":{}}})", "True")), "1/2 Running 0");
  EXPECT_EQ(PodLine(pod(R"({"ready":true,"state":{"running":{}}})", "False")), "1/2 NotReady 0");
  EXPECT_EQ(PodLine(pod(R"({"state":{"terminated":{"exitCode":1,"reason":"Error"}}})", "False")),
            "0/2 Error 0");
  EXPECT_EQ(PodLine(pod(kDone, "False")), "0/2 Completed 0");
}

TEST(PodTable, InitContainersShowHowFarTheyAre) {
  auto pod = [](std::string_view statuses) {
    return R"({"spec":{"containers":[{"name":"c"}],"initContainers":[{"name":"i"},{"name":"j"}]},"status":{"phase":)"
           R"("Pending","initContainerStatuses":[)" +
           std::string(statuses) + "]}}";
  };
  constexpr std::string_view kDone = R"({"name":"i","state":{"terminated":{"exitCode":0}}},)";
  EXPECT_EQ(PodLine(pod(R"({"name":"i","state":{"running":{}}})")), "0/1 Init:0/2 0");
  EXPECT_EQ(
      PodLine(pod(std::string(kDone) + R"({"name":"j","state":{"waiting":{"reason":"PodInitializing"}}})")),
      "0/1 Init:1/2 0");
  EXPECT_EQ(
      PodLine(pod(std::string(kDone) + R"({"name":"j","state":{"waiting":{"reason":"CrashLoopBackOff"}},)"
                                       R"("restartCount":2})")),
      "0/1 Init:CrashLoopBackOff 2");
  EXPECT_EQ(PodLine(pod(R"({"name":"i","state":{"terminated":{"exitCode":4}}})")), "0/1 Init:ExitCode:4 0");
}

TEST(PodTable, SidecarsCountAsContainersForTheWholeLife) {
  EXPECT_EQ(
      PodLine(
          R"({"spec":{"containers":[{"name":"c"}],"initContainers":[{"name":"s","restartPolicy":"Always"}]},
      "status":{"phase":"Running",
        "initContainerStatuses":[{"name":"s","started":true,"ready":true,"restartCount":1,"state":{"running":{}}}],
        "containerStatuses":[{"ready":true,"restartCount":1,"state":{"running":{}}}]}})"),
      "2/2 Running 2");
}

TEST(PodTable, RestartsHaveTheTimeOfTheLastOne) {
  EXPECT_EQ(PodLine(R"({"spec":{"containers":[{"name":"c"}]},"status":{"phase":"Running","containerStatuses":[
      {"ready":true,"restartCount":3,"state":{"running":{}},
       "lastState":{"terminated":{"exitCode":1,"finishedAt":"2026-01-01T00:02:00Z"}}}]}})"),
            "1/1 Running 3 (3m ago)");
}

TEST(PodTable, DeletedPodIsTerminatingUntilItHasEnded) {
  auto pod = [](std::string_view status) {
    return R"({"metadata":{"deletionTimestamp":"2026-01-01T00:04:00Z"},"spec":{"containers":[{"name":"c"}]},"status":)" +
           std::string(status) + "}";
  };
  EXPECT_EQ(PodLine(pod(R"({"phase":"Running"})")), "0/1 Terminating 0");
  EXPECT_EQ(PodLine(pod(R"({"phase":"Failed"})")), "0/1 Failed 0");
  EXPECT_EQ(PodLine(pod(R"({"phase":"Running","reason":"NodeLost"})")), "0/1 Unknown 0");
}

TEST(PodTable, ReasonAndSchedulingGateStandBeforeThePhase) {
  EXPECT_EQ(PodLine(R"({"status":{"phase":"Failed","reason":"Evicted"}})"), "0/0 Evicted 0");
  EXPECT_EQ(PodLine(R"({"status":{"phase":"Pending","conditions":[
      {"type":"PodScheduled","status":"False","reason":"SchedulingGated"}]}})"),
            "0/0 SchedulingGated 0");
}

TEST(PodTable, ReadinessGatesCountTrueConditions) {
  EXPECT_EQ(Cells("", "Pod", R"({"spec":{"readinessGates":[{"conditionType":"a"},{"conditionType":"b"}]},
      "status":{"conditions":[{"type":"b","status":"True"}],"podIPs":[{"ip":"10.0.0.1"}]}})")[8],
            "1/2");
}

TEST(PodTable, EndedPodsAreMarkedCompletedForWait) {
  Json row = TableOf("", "Pod", Document(R"({"status":{"phase":"Succeeded"}})"), Options())["rows"][0];
  EXPECT_EQ(row["conditions"][0]["type"], "Completed");
  EXPECT_EQ(row["conditions"][0]["reason"], "Succeeded");
  EXPECT_FALSE(
      TableOf("", "Pod", Document(R"({"status":{"phase":"Running"}})"), Options())["rows"][0].contains(
          "conditions"));
}

TEST(WorkloadTables, CountersComeFromSpecAndStatus) {
  constexpr std::string_view kTemplate =
      R"("template":{"spec":{"containers":[{"name":"c","image":"nginx:1"},{"name":"d","image":"e"}]}})";
  auto object = [&](std::string_view spec, std::string_view status) {
    return R"({"spec":{)" + std::string(spec) + "," + std::string(kTemplate) + R"(},"status":)" +
           std::string(status) + "}";
  };
  const std::string selector = R"("replicas":3,"selector":{"matchLabels":{"app":"x"}})";
  EXPECT_EQ(Cells("apps", "Deployment",
                  object(selector, R"({"readyReplicas":2,"updatedReplicas":1,"availableReplicas":1})")),
            Json::parse(R"(["x","2/3",1,1,"5m","c,d","nginx:1,e","app=x"])"));
  EXPECT_EQ(Cells("apps", "ReplicaSet", object(selector, R"({"replicas":3,"readyReplicas":2})")),
            Json::parse(R"(["x",3,3,2,"5m","c,d","nginx:1,e","app=x"])"));
  EXPECT_EQ(Cells("apps", "StatefulSet", object(selector, R"({"readyReplicas":1})")),
            Json::parse(R"(["x","1/3","5m","c,d","nginx:1,e"])"));
  EXPECT_EQ(
      Cells("", "ReplicationController", object(R"("replicas":1,"selector":{"q":"z"})", R"({"replicas":1})")),
      Json::parse(R"(["x",1,1,0,"5m","c,d","nginx:1,e","q=z"])"));
  EXPECT_EQ(
      Cells("apps", "DaemonSet", object(selector, R"({"desiredNumberScheduled":4,"currentNumberScheduled":3,
      "numberReady":2,"updatedNumberScheduled":1})")),
      Json::parse(R"(["x",4,3,2,1,0,"<none>","5m","c,d","nginx:1,e","app=x"])"));
}

TEST(WorkloadTables, ControllerRevisionNamesItsController) {
  EXPECT_EQ(Cells("apps", "ControllerRevision", R"({"revision":4,"metadata":{"ownerReferences":[
      {"apiVersion":"apps/v1","kind":"StatefulSet","name":"web","controller":true}]}})"),
            Json::parse(R"(["x","statefulset.apps/web",4,"5m"])"));
  EXPECT_EQ(Cells("apps", "ControllerRevision", R"({"revision":1})")[1], "<none>");
}

TEST(JobTable, StatusCompletionsAndDuration) {
  auto line = [](std::string_view text) {
    Json cells = Cells("batch", "Job", text);
    return cells[1].get<std::string>() + " " + cells[2].get<std::string>() + " " +
           cells[3].get<std::string>();
  };
  EXPECT_EQ(line(R"({"spec":{"completions":2}})"), "Running 0/2 ");
  EXPECT_EQ(line(R"({"spec":{"parallelism":3},"status":{"succeeded":1,"startTime":"2026-01-01T00:04:30Z"}})"),
            "Running 1/1 of 3 30s");
  EXPECT_EQ(line(R"({"spec":{"parallelism":1},"status":{"startTime":"2026-01-01T00:00:00Z",
      "completionTime":"2026-01-01T00:00:10Z","conditions":[{"type":"SuccessCriteriaMet","status":"True"},
      {"type":"Complete","status":"True"}]}})"),
            "Complete 0/1 10s");
  EXPECT_EQ(line(R"({"status":{"conditions":[{"type":"Suspended","status":"True"}]}})"), "Suspended 0/1 ");
  EXPECT_EQ(line(R"({"status":{"conditions":[{"type":"FailureTarget","status":"True"}]}})"),
            "FailureTarget 0/1 ");
  EXPECT_EQ(line(R"({"metadata":{"deletionTimestamp":"2026-01-01T00:04:00Z"},
      "status":{"conditions":[{"type":"Suspended","status":"True"}]}})"),
            "Terminating 0/1 ");
}

TEST(CronJobTable, ShowsScheduleSuspensionAndLastRun) {
  EXPECT_EQ(Cells("batch", "CronJob", R"({"spec":{"schedule":"* * * * *","suspend":true,"timeZone":"Etc/UTC",
      "jobTemplate":{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}}}},
      "status":{"active":[{}],"lastScheduleTime":"2026-01-01T00:04:00Z"}})"),
            Json::parse(R"(["x","* * * * *","Etc/UTC","True",1,"60s","5m","c","i","<none>"])"));
  EXPECT_EQ(Cells("batch", "CronJob", R"({"spec":{"schedule":"@daily"}})")[3], "<unset>");
}

TEST(BudgetTable, MissingLimitsAreNotApplicable) {
  EXPECT_EQ(Cells("policy", "PodDisruptionBudget",
                  R"({"spec":{"minAvailable":1},"status":{"disruptionsAllowed":2}})"),
            Json::parse(R"(["x","1","N/A",2,"5m"])"));
  EXPECT_EQ(Cells("policy", "PodDisruptionBudget", R"({"spec":{"maxUnavailable":"25%"}})")[2], "25%");
}

TEST(ServiceTable, AddressesAndPortsFollowTheType) {
  EXPECT_EQ(Cells("", "Service", R"({"spec":{"type":"NodePort","clusterIPs":["10.0.0.9"],"selector":{"a":"b"},
      "ports":[{"port":80,"nodePort":30080,"protocol":"TCP"},{"port":53,"protocol":"UDP"}]}})"),
            Json::parse(R"(["x","NodePort","10.0.0.9","<none>","80:30080/TCP,53/UDP","5m","a=b"])"));
  EXPECT_EQ(Cells("", "Service", R"({"spec":{"type":"LoadBalancer"}})")[3], "<pending>");
  EXPECT_EQ(Cells("", "Service", R"({"spec":{"type":"LoadBalancer","externalIPs":["9.9.9.9"]},
      "status":{"loadBalancer":{"ingress":[{"hostname":"b"},{"ip":"1.1.1.1"},{"hostname":"b"}]}}})")[3],
            "1.1.1.1,b,9.9.9.9");
  EXPECT_EQ(Cells("", "Service", R"({"spec":{"type":"ExternalName","externalName":"example.org"}})"),
            Json::parse(R"(["x","ExternalName","<none>","example.org","<none>","5m","<none>"])"));
}

TEST(NodeTable, StatusRolesAndAddresses) {
  EXPECT_EQ(Cells("", "Node",
                  R"({"metadata":{"labels":{"node-role.kubernetes.io/worker":"","kubernetes.io/role":"db"}},
      "spec":{"unschedulable":true},"status":{"conditions":[{"type":"Ready","status":"True"}],
      "addresses":[{"type":"InternalIP","address":"10.1.1.1"}],
      "nodeInfo":{"kubeletVersion":"v1.36.4","kernelVersion":"6.1","architecture":"amd64"}}})"),
            Json::parse(R"json(["x","Ready,SchedulingDisabled","db,worker","5m","v1.36.4","10.1.1.1","<none>",
                                "<unknown>","6.1 (amd64)","<unknown>"])json"));
  EXPECT_EQ(Cells("", "Node", R"({"status":{"conditions":[{"type":"Ready","status":"Unknown"}]}})")[1],
            "NotReady");
  EXPECT_EQ(Cells("", "Node", "{}")[1], "Unknown");
}

TEST(EventTable, BothGroupsPrintAlike) {
  const Json expected =
      Json::parse(R"(["60s","Warning","Failed","pod/web","spec.containers{c}","kubelet, n1","no image",
                                        "2m",3,"x"])");
  EXPECT_EQ(Cells("", "Event", R"({"type":"Warning","reason":"Failed","message":" no image\n","count":3,
      "firstTimestamp":"2026-01-01T00:03:00Z","lastTimestamp":"2026-01-01T00:04:00Z",
      "source":{"component":"kubelet","host":"n1"},
      "involvedObject":{"kind":"Pod","name":"web","fieldPath":"spec.containers{c}"}})"),
            expected);
  EXPECT_EQ(Cells("events.k8s.io", "Event",
                  R"({"type":"Warning","reason":"Failed","note":"no image","deprecatedCount":3,
      "deprecatedFirstTimestamp":"2026-01-01T00:03:00Z","deprecatedLastTimestamp":"2026-01-01T00:04:00Z",
      "reportingController":"kubelet","reportingInstance":"n1",
      "regarding":{"kind":"Pod","name":"web","fieldPath":"spec.containers{c}"}})"),
            expected);
}

TEST(EventTable, SeriesAndSingleEventsCountTheirOwnWay) {
  Json single =
      Cells("", "Event", R"({"eventTime":"2026-01-01T00:04:50.000000Z","involvedObject":{"kind":"Node"}})");
  EXPECT_EQ(single[0], "10s");
  EXPECT_EQ(single[3], "node");
  EXPECT_EQ(single[8], 1);
  Json series = Cells("", "Event", R"({"eventTime":"2026-01-01T00:00:00.000000Z",
      "series":{"count":9,"lastObservedTime":"2026-01-01T00:04:59.000000Z"}})");
  EXPECT_EQ(series[0], "1s");
  EXPECT_EQ(series[8], 9);
}

TEST(SmallTables, CellsOfTheOtherKinds) {
  EXPECT_EQ(Cells("", "Namespace", R"({"status":{"phase":"Active"}})"),
            Json::parse(R"(["x","Active","5m"])"));
  EXPECT_EQ(Cells("", "Secret", R"({"type":"Opaque","data":{"a":"","b":""}})"),
            Json::parse(R"(["x","Opaque",2,"5m"])"));
  EXPECT_EQ(Cells("", "ConfigMap", R"({"data":{"a":""},"binaryData":{"b":""}})"),
            Json::parse(R"(["x",2,"5m"])"));
  EXPECT_EQ(Cells("", "ServiceAccount", "{}"), Json::parse(R"(["x","5m"])"));
  EXPECT_EQ(Cells("coordination.k8s.io", "Lease", R"({"spec":{"holderIdentity":"h"}})"),
            Json::parse(R"(["x","h","5m"])"));
  EXPECT_EQ(Cells("autoscaling", "Scale", R"({"spec":{"replicas":3},"status":{"replicas":1}})"),
            Json::parse(R"(["x",3,1,"5m"])"));
  EXPECT_EQ(Cells("example.org", "Other", "{}"), Json::parse(R"(["x","2026-01-01T00:00:00Z"])"));
}

TEST(StorageTables, VolumesAndClaims) {
  EXPECT_EQ(Cells("", "PersistentVolume",
                  R"({"spec":{"capacity":{"storage":"10Gi"},"accessModes":["ReadWriteMany","ReadWriteOnce"],
                      "persistentVolumeReclaimPolicy":"Retain","claimRef":{"namespace":"n","name":"c"},
                      "storageClassName":"s","volumeMode":"Block"},"status":{"phase":"Bound"}})"),
            Json::parse(R"(["x","10Gi","RWO,RWX","Retain","Bound","n/c","s","<unset>","","5m","Block"])"));
  EXPECT_EQ(Cells("", "PersistentVolumeClaim",
                  R"({"spec":{"volumeName":"v","volumeMode":"Filesystem"},
                      "status":{"phase":"Bound","capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"]}})"),
            Json::parse(R"(["x","Bound","v","1Gi","RWO","","<unset>","5m","Filesystem"])"));
  EXPECT_EQ(
      Cells("", "PersistentVolumeClaim", R"({"status":{"phase":"Pending","capacity":{"storage":"1Gi"}}})"),
      Json::parse(R"(["x","Pending","","","","","<unset>","5m","<unset>"])"));
}

TEST(NetworkingTables, ListsAreCut) {
  EXPECT_EQ(Cells("networking.k8s.io", "Ingress",
                  R"({"spec":{"rules":[{"host":"a"},{"host":"b"},{"host":"c"},{"host":"d"}],"tls":[{}]},
                      "status":{"loadBalancer":{"ingress":[{"ip":"2.2.2.2"},{"hostname":"h"}]}}})"),
            Json::parse(R"(["x","<none>","a,b,c + 1 more...","2.2.2.2,h","80, 443","5m"])"));
  EXPECT_EQ(Cells("", "Endpoints",
                  R"({"subsets":[{"addresses":[{"ip":"1.1.1.1"},{"ip":"::1"}],
                      "ports":[{"port":80},{"port":81}]}]})"),
            Json::parse(R"(["x","1.1.1.1:80,[::1]:80,1.1.1.1:81 + 1 more...","5m"])"));
  EXPECT_EQ(Cells("discovery.k8s.io", "EndpointSlice", R"({"addressType":"IPv4"})"),
            Json::parse(R"(["x","IPv4","<unset>","<unset>","5m"])"));
}

TEST(AutoscalingTables, MetricsShowCurrentAndTarget) {
  EXPECT_EQ(
      Cells("autoscaling", "HorizontalPodAutoscaler",
            R"({"spec":{"scaleTargetRef":{"kind":"Deployment","name":"d"},"minReplicas":1,"maxReplicas":5,
                      "metrics":[{"type":"Resource","resource":{"name":"cpu","target":{"averageUtilization":80}}},
                                 {"type":"Pods","pods":{"target":{"averageValue":"10"}}},{"type":"Pods"}]},
                      "status":{"currentReplicas":2,
                        "currentMetrics":[{"resource":{"current":{"averageUtilization":42}}}]}})"),
      Json::parse(R"(["x","Deployment/d","cpu: 42%/80%, <unknown>/10 + 1 more...","1",5,2,"5m"])"));
}

TEST(AdministrationTables, BindingsAndRequests) {
  EXPECT_EQ(Cells("rbac.authorization.k8s.io", "RoleBinding",
                  R"({"roleRef":{"kind":"Role","name":"r"},"subjects":[{"kind":"User","name":"a"},
                      {"kind":"User","name":"b"},{"kind":"ServiceAccount","namespace":"n","name":"s"}]})"),
            Json::parse(R"(["x","Role/r","5m","a, b","","n/s"])"));
  EXPECT_EQ(Cells("certificates.k8s.io", "CertificateSigningRequest",
                  R"({"spec":{"signerName":"e/s","username":"u","expirationSeconds":3600},
                      "status":{"conditions":[{"type":"Approved","status":"True"}],"certificate":"eA=="}})"),
            Json::parse(R"(["x","5m","e/s","u","60m","Approved,Issued"])"));
}

TEST(Table, EveryServedKindFillsEachOfItsColumns) {
  for (const ResourceInfo& resource : ResourceTable::BuiltIn()->all()) {
    Json table = TableOf(resource.group, resource.kind, Document("{}"), Options());
    EXPECT_EQ(table["rows"][0]["cells"].size(), table["columnDefinitions"].size()) << resource.kind;
    // Kubernetes has no printer for these either.
    const std::set<std::string> plain = {"ClusterRole", "LimitRange", "Role"};
    if (resource.strategy != nullptr) {
      EXPECT_EQ(table["columnDefinitions"].back()["name"] == "Created At", plain.contains(resource.kind))
          << resource.kind;
    }
  }
}

TEST(Table, CarriesWhatTheClientAskedFor) {
  const Json document = Document(R"({"data":{"a":"b"}})");
  TableOptions options = Options();
  EXPECT_EQ(TableOf("", "ConfigMap", document, options)["rows"][0]["object"], nullptr);

  options.include_object = IncludeObject::kMetadata;
  options.meta_version = "v1beta1";
  Json table = TableOf("", "ConfigMap", document, options);
  EXPECT_EQ(table["kind"], "Table");
  EXPECT_EQ(table["apiVersion"], "meta.k8s.io/v1beta1");
  EXPECT_EQ(table["metadata"], Json::parse(R"({"resourceVersion":"7"})"));
  EXPECT_EQ(table["rows"][0]["object"], Json::parse(R"({"kind":"PartialObjectMetadata",
      "apiVersion":"meta.k8s.io/v1beta1","metadata":{"name":"x","creationTimestamp":"2026-01-01T00:00:00Z"}})"));

  options.include_object = IncludeObject::kObject;
  Json object = TableOf("apps", "Deployment", document, options)["rows"][0]["object"];
  EXPECT_EQ(object["kind"], "Deployment");
  EXPECT_EQ(object["apiVersion"], "apps/v1");
  EXPECT_EQ(object["data"]["a"], "b");
}

TEST(Table, WithoutHeadersHasNullColumns) {
  TableOptions options = Options();
  options.no_headers = true;
  Json table = TableOf("", "Pod", Document("{}"), options);
  EXPECT_TRUE(table.contains("columnDefinitions"));
  EXPECT_EQ(table["columnDefinitions"], nullptr);
}

TEST(Table, ClosingBookmarkOfAStreamedListKeepsItsAnnotation) {
  Json bookmark = Json::parse(
      R"({"metadata":{"resourceVersion":"9","annotations":{"k8s.io/initial-events-end":"true"}}})");
  Json table = MakeTable({"", "v1", "Pod"}, std::span<const Json>(&bookmark, 1), {"9", "", {}}, Options());
  EXPECT_EQ(table["rows"][0]["object"]["metadata"]["annotations"]["k8s.io/initial-events-end"], "true");
}

TEST(Table, StoredObjectsPrintLikeDocuments) {
  const Json document = Document(R"({"status":{"phase":"Active"}})");
  std::vector<api::ObjectPtr> objects = {api::Object::Make({}, document)};
  Json table = MakeTable({"", "v1", "Namespace"}, objects, {"7", "token", 12}, Options());
  EXPECT_EQ(table["rows"][0]["cells"], Json::parse(R"(["x","Active","5m"])"));
  EXPECT_EQ(table["metadata"],
            Json::parse(R"({"resourceVersion":"7","continue":"token","remainingItemCount":12})"));
}

TEST(Table, OptionsAreReadFromTheQuery) {
  Request request;
  EXPECT_EQ(ParseTableOptions(request)->include_object, IncludeObject::kMetadata);
  request.query = {{"includeObject", "Object"}};
  EXPECT_EQ(ParseTableOptions(request)->include_object, IncludeObject::kObject);
  request.query = {{"includeObject", "All"}};
  EXPECT_EQ(
      ParseTableOptions(request).status().message,
      "Unable to convert to Table as requested: includeObject: Invalid value: \"All\": must be 'Metadata', "
      "'Object', 'None', or empty");
}

TEST(PartialMetadata, ListHoldsMetadataAlone) {
  Json one = MakePartialMetadata(Json::parse(R"({"metadata":{"name":"a"},"spec":{"b":1}})"), "v1");
  EXPECT_EQ(one,
            Json::parse(
                R"({"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a"}})"));
  Json list = MakePartialMetadataList({{"resourceVersion", "5"}}, Json::array({one}), "v1");
  EXPECT_EQ(list["kind"], "PartialObjectMetadataList");
  EXPECT_EQ(list["apiVersion"], "meta.k8s.io/v1");
  EXPECT_EQ(list["metadata"]["resourceVersion"], "5");
  EXPECT_EQ(list["items"].size(), 1u);
}

}  // namespace
}  // namespace terrarium::apiserver
