#include "api/apply/ownership.h"

#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "api/apply/check_types.h"
#include "api/apply/fields_v1.h"
#include "api/apply/last_applied.h"
#include "api/apply/scale_owners.h"
#include "api/codec/normalize.h"

namespace terrarium::api {
namespace {

constexpr Time kNow = Time(std::chrono::seconds(1'000'000'000));

OwnedType TypeOf(const char* name, const char* reset = nullptr) {
  const FieldPath path = {PathElement::Field(reset != nullptr ? reset : "")};
  return {ValueType::Of(Schema::Get().Must(name)), reset != nullptr ? SetOf(path) : nullptr, {}};
}
OwnedType ConfigMaps() { return TypeOf("io.k8s.api.core.v1.ConfigMap"); }
OwnedType Pods() { return TypeOf("io.k8s.api.core.v1.Pod", "status"); }
OwnedType Deployments() { return TypeOf("io.k8s.api.apps.v1.Deployment", "status"); }

FieldManager Manager(const char* name, bool applied, const char* version = "v1") {
  return {MemberName(name), MemberName(version), MemberName(std::string_view()), applied};
}
FieldManager Updater(const char* name) { return Manager(name, false); }

std::string FieldsOf(const ManagedFields& managed, const FieldManager& manager) {
  const ManagedEntry* entry = managed.Find(manager);
  if (entry == nullptr) return "none";
  std::string out;
  AppendFieldsV1(entry->fields, out);
  return out;
}

Json Normalized(const OwnedType& type, Json document) {
  EXPECT_EQ(Normalize(*type.type.message(), document, nullptr), std::nullopt);
  return document;
}

// An object and its owners under a sequence of writes.
struct Stored {
  explicit Stored(OwnedType t) : type(std::move(t)), object(EmptyDocument(*type.type.message())) {}

  void Update(const char* manager, const char* document, Time now = kNow) {
    Json after = Normalized(type, Json::parse(document));
    std::string error;
    auto owners = OwnersAfterUpdate(type, object, after, managed, Updater(manager), now, &error);
    ASSERT_TRUE(owners.has_value()) << error;
    managed = std::move(*owners);
    object = std::move(after);
  }
  ApplyOutcome TryApply(const char* manager, const char* config, bool force = false) {
    Json listed = Json::parse(config);
    EXPECT_EQ(CheckTypes(type.type, listed), "");
    CanonicalizeForms(type.type, listed);
    const FieldManager applier = Manager(manager, true);
    return ApplyConfiguration(
        type, {.before = object, .config = listed, .manager = applier, .force = force, .now = kNow}, managed);
  }
  void Apply(const char* manager, const char* config, bool force = false) {
    ApplyOutcome outcome = TryApply(manager, config, force);
    ASSERT_TRUE(std::holds_alternative<Applied>(outcome))
        << (std::holds_alternative<std::string>(outcome)
                ? std::get<std::string>(outcome)
                : ConflictStatus(std::get<FieldConflicts>(outcome)).message);
    Applied& applied = std::get<Applied>(outcome);
    if (applied.object) object = Normalized(type, std::move(*applied.object));
    managed = std::move(applied.managed);
  }
  std::string ConflictOf(const char* manager, const char* config) {
    ApplyOutcome outcome = TryApply(manager, config);
    if (!std::holds_alternative<FieldConflicts>(outcome)) return "no conflict";
    return ConflictStatus(std::get<FieldConflicts>(outcome)).message;
  }
  std::string Applied_(const char* manager) const { return FieldsOf(managed, Manager(manager, true)); }
  std::string Updated(const char* manager) const { return FieldsOf(managed, Updater(manager)); }

  OwnedType type;
  Json object;
  ManagedFields managed;
};

TEST(Ownership, ACreatorOwnsWhatItSentWithTheMapsAround) {
  Stored stored(ConfigMaps());
  stored.Update("poster", R"({"metadata":{"name":"c","labels":{"l":"1"}},"data":{"a":"1","b":"1"}})");
  EXPECT_EQ(stored.Updated("poster"),
            R"({"f:data":{".":{},"f:a":{},"f:b":{}},"f:metadata":{"f:labels":{".":{},"f:l":{}}}})");
}

TEST(Ownership, APodsCreatorOwnsListsByTheirKeys) {
  Stored stored(Pods());
  stored.Update("kubectl", R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i",
      "ports":[{"containerPort":443,"protocol":"TCP"},{"containerPort":80,"protocol":"TCP"}],"args":["x"]}],
      "nodeSelector":{"a":"b"},"tolerations":[{"key":"k"}]},"status":{"phase":"Pending"}})");
  EXPECT_EQ(
      stored.Updated("kubectl"),
      R"({"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:args":{},"f:image":{},"f:name":{},)"
      R"("f:ports":{".":{},"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{},"f:protocol":{}},)"
      R"("k:{\"containerPort\":443,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{},"f:protocol":{}}},)"
      R"("f:resources":{}}},"f:nodeSelector":{},"f:tolerations":{}}})");
}

TEST(Ownership, ItemsWithoutPartsOfTheirOwnAreLeaves) {
  Stored stored(Pods());
  stored.Update("tester", R"({"metadata":{"name":"p","ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap",
      "name":"c","uid":"u-1"}]},"spec":{"containers":[],"imagePullSecrets":[{}],
      "hostAliases":[{"ip":"1.2.3.4","hostnames":["a"]}],
      "topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":"DoNotSchedule"}]}})");
  // As kube-apiserver shows them, but for the empty list, which it does not accept.
  EXPECT_EQ(
      stored.Updated("tester"),
      R"({"f:metadata":{"f:ownerReferences":{".":{},"k:{\"uid\":\"u-1\"}":{}}},)"
      R"("f:spec":{"f:containers":{},"f:hostAliases":{".":{},"k:{\"ip\":\"1.2.3.4\"}":{".":{},"f:hostnames":{},)"
      R"("f:ip":{}}},"f:imagePullSecrets":{".":{},"k:{\"name\":\"\"}":{}},"f:topologySpreadConstraints":{".":{},)"
      R"("k:{\"topologyKey\":\"z\",\"whenUnsatisfiable\":\"DoNotSchedule\"}":{".":{},"f:maxSkew":{},)"
      R"("f:topologyKey":{},"f:whenUnsatisfiable":{}}}}})");
}

TEST(Ownership, AStatusWriterOwnsTheStatusAlone) {
  OwnedType status = TypeOf("io.k8s.api.core.v1.Pod", "spec");
  Stored stored(status);
  stored.object =
      Normalized(status, Json::parse(R"({"spec":{"nodeName":"n"},"status":{"phase":"Pending"}})"));
  stored.managed.entries().push_back(
      {Updater("other"), kNow, Intern(SetOf(FieldPath{PathElement::Field("x")}))});
  stored.Update("kubelet", R"({"spec":{"nodeName":"m"},"status":{"phase":"Running","podIP":"1.1.1.1",
      "podIPs":[{"ip":"1.1.1.1"}],"conditions":[{"type":"Ready","status":"True"}],
      "containerStatuses":[{"name":"c","ready":true}]}})");
  EXPECT_EQ(
      stored.Updated("kubelet"),
      R"({"f:status":{"f:conditions":{".":{},"k:{\"type\":\"Ready\"}":{".":{},"f:lastProbeTime":{},)"
      R"("f:lastTransitionTime":{},"f:status":{},"f:type":{}}},"f:containerStatuses":{},"f:phase":{},"f:podIP":{},)"
      R"("f:podIPs":{".":{},"k:{\"ip\":\"1.1.1.1\"}":{".":{},"f:ip":{}}}}})");
}

TEST(Ownership, AnUpdateTakesWhatItChanges) {
  Stored stored(ConfigMaps());
  stored.Update("poster", R"({"metadata":{"name":"c"},"data":{"a":"1","b":"1"}})");
  stored.Update("patcher", R"({"metadata":{"name":"c"},"data":{"a":"2","b":"1","n":"1"}})");
  EXPECT_EQ(stored.Updated("poster"), R"({"f:data":{".":{},"f:b":{}}})");
  EXPECT_EQ(stored.Updated("patcher"), R"({"f:data":{"f:a":{},"f:n":{}}})");
}

TEST(Ownership, AFieldThatIsGoneHasNoOwner) {
  Stored stored(ConfigMaps());
  stored.Update("one", R"({"data":{"a":"1"}})");
  stored.Update("two", R"({"data":{"a":"1","b":"1"}})");
  stored.Update("three", R"({"data":{"a":"1"}})");
  EXPECT_EQ(stored.Updated("two"), "none");
  EXPECT_EQ(stored.Updated("three"), "none");
}

TEST(Ownership, AnUpdateThatChangesNothingKeepsSetsAndTimes) {
  Stored stored(ConfigMaps());
  stored.Update("one", R"({"data":{"a":"1"}})");
  const FieldSetPtr before = stored.managed.entries()[0].fields;
  stored.Update("two", R"({"data":{"a":"1"}})", kNow + std::chrono::seconds(5));
  ASSERT_EQ(stored.managed.entries().size(), 1u);
  EXPECT_EQ(stored.managed.entries()[0].fields, before);
  EXPECT_EQ(stored.managed.entries()[0].time, kNow);
}

TEST(Ownership, TheSameFieldsAgainChangeNoSetButTheTime) {
  Stored stored(ConfigMaps());
  stored.Update("one", R"({"data":{"a":"1","b":"1"}})");
  const FieldSetPtr before = stored.managed.entries()[0].fields;
  stored.Update("one", R"({"data":{"a":"2","b":"1"}})", kNow + std::chrono::seconds(5));
  EXPECT_EQ(stored.managed.entries()[0].fields, before);
  EXPECT_EQ(stored.managed.entries()[0].time, kNow + std::chrono::seconds(5));
}

TEST(Ownership, TheServersOwnFieldsAndResetFieldsHaveNoOwner) {
  Stored stored(Deployments());
  stored.Update("one", R"({"metadata":{"name":"d","uid":"u","generation":3,"annotations":{"x":"y"}},
      "spec":{"replicas":1},"status":{"replicas":2}})");
  EXPECT_EQ(stored.Updated("one"),
            R"({"f:metadata":{"f:annotations":{".":{},"f:x":{}}},"f:spec":{"f:replicas":{}}})");
}

TEST(Ownership, MoreThanTenUpdatersAreFoldedIntoOne) {
  Stored stored(ConfigMaps());
  std::string data;
  for (int i = 0; i < 12; ++i) {
    const std::string n = std::to_string(i);
    data += (i == 0 ? "\"k" : ",\"k") + n + "\":\"v\"";
    stored.Update(("m" + n).c_str(), ("{\"data\":{" + data + "}}").c_str(), kNow + std::chrono::seconds(i));
  }
  EXPECT_EQ(stored.managed.entries().size(), 10u);
  EXPECT_EQ(stored.Updated("ancient-changes"), R"({"f:data":{".":{},"f:k0":{},"f:k1":{},"f:k2":{}}})");
  EXPECT_EQ(stored.managed.Find(Updater("ancient-changes"))->time, kNow + std::chrono::seconds(2));
  EXPECT_EQ(stored.Updated("m3"), R"({"f:data":{"f:k3":{}}})");
}

TEST(Ownership, UpdatersOfOneSecondAreFoldedByName) {
  Stored stored(ConfigMaps());
  std::string data;
  for (int i = 0; i < 13; ++i) {
    const std::string n = std::to_string(i);
    data += (i == 0 ? "\"k" : ",\"k") + n + "\":\"v\"";
    stored.Update(("m" + n).c_str(), ("{\"data\":{" + data + "}}").c_str());
  }
  EXPECT_EQ(stored.managed.entries().size(), 10u);
  EXPECT_EQ(stored.Updated("ancient-changes"),
            R"({"f:data":{".":{},"f:k0":{},"f:k1":{},"f:k10":{},"f:k11":{}}})");
}

TEST(Apply, CreatesWhatItListsAndNoMore) {
  Stored stored(ConfigMaps());
  stored.Apply("me", R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","labels":{"x":"y"}},
      "data":{"a":"1"}})");
  EXPECT_EQ(stored.Applied_("me"), R"({"f:data":{"f:a":{}},"f:metadata":{"f:labels":{"f:x":{}}}})");
  EXPECT_EQ(stored.object["data"]["a"], "1");
}

TEST(Apply, AConfigurationThatChangesNothingGivesItsManagerNoTime) {
  Stored stored(ConfigMaps());
  stored.Apply("one", R"({"data":{"a":"1"}})");
  stored.Apply("two", R"({"data":{"a":"1"}})");
  EXPECT_EQ(stored.managed.Find(Manager("one", true))->time, kNow);
  EXPECT_EQ(stored.Applied_("two"), R"({"f:data":{"f:a":{}}})");
  EXPECT_EQ(stored.managed.Find(Manager("two", true))->time, std::nullopt);
}

TEST(Apply, NullsAndEmptyObjectsAreOwned) {
  Stored stored(Deployments());
  stored.Update(
      "other",
      R"({"metadata":{"labels":{"q":"r"}},"spec":{"template":{"spec":{"containers":[{"name":"c"}]}}}})");
  stored.Apply(
      "nulls",
      R"({"metadata":{"labels":null,"annotations":{}},"spec":{"template":{"spec":{"containers":null}}}})");
  EXPECT_EQ(
      stored.Applied_("nulls"),
      R"({"f:metadata":{"f:annotations":{},"f:labels":{}},"f:spec":{"f:template":{"f:spec":{"f:containers":{}}}}})");
  EXPECT_EQ(stored.object["metadata"]["labels"], Json::parse(R"({"q":"r"})"));
  EXPECT_EQ(stored.object["spec"]["template"]["spec"]["containers"].size(), 1u);
}

TEST(Apply, AFieldLeftOutGoesUnlessAnotherManagerOwnsIt) {
  Stored stored(ConfigMaps());
  stored.Apply("one", R"({"data":{"a":"1","b":"1","c":"1"}})");
  stored.Apply("two", R"({"data":{"b":"1"}})");
  stored.Apply("one", R"({"data":{"a":"1"}})");
  EXPECT_EQ(stored.object["data"], Json::parse(R"({"a":"1","b":"1"})"));
  EXPECT_EQ(stored.Applied_("one"), R"({"f:data":{"f:a":{}}})");
  EXPECT_EQ(stored.Applied_("two"), R"({"f:data":{"f:b":{}}})");
}

TEST(Apply, WhatAnUpdaterAddedStays) {
  Stored stored(ConfigMaps());
  stored.Apply("one", R"({"data":{"a":"1"}})");
  stored.Update("two", R"({"data":{"a":"1","z":"1"}})");
  stored.Apply("one", R"({"data":{"b":"1"}})");
  EXPECT_EQ(stored.object["data"], Json::parse(R"({"b":"1","z":"1"})"));
}

TEST(Apply, ConflictsNameTheManagerAndTheField) {
  Stored stored(ConfigMaps());
  stored.Apply("one", R"({"data":{"a":"1","b":"1"}})");
  EXPECT_EQ(stored.ConflictOf("two", R"({"data":{"a":"2"}})"),
            "Apply failed with 1 conflict: conflict with \"one\": .data.a");
  EXPECT_EQ(stored.ConflictOf("two", R"({"data":{"a":"2","b":"2"}})"),
            "Apply failed with 2 conflicts: conflicts with \"one\":\n- .data.a\n- .data.b");
  stored.Update("patcher", R"({"data":{"a":"1","b":"3"}})");
  EXPECT_EQ(stored.ConflictOf("two", R"({"data":{"a":"2","b":"2"}})"),
            "Apply failed with 2 conflicts: conflicts with \"one\":\n- .data.a\n"
            "conflicts with \"patcher\" using v1:\n- .data.b");
}

TEST(Apply, ForceTakesTheFieldFromTheOther) {
  Stored stored(ConfigMaps());
  stored.Apply("one", R"({"data":{"a":"1","b":"1"}})");
  stored.Apply("two", R"({"data":{"a":"2"}})", /*force=*/true);
  EXPECT_EQ(stored.Applied_("one"), R"({"f:data":{"f:b":{}}})");
  EXPECT_EQ(stored.Applied_("two"), R"({"f:data":{"f:a":{}}})");
  EXPECT_EQ(stored.object["data"]["a"], "2");
}

TEST(Apply, ItemsOfAListAreMergedByTheirKeysWithDefaults) {
  Stored stored(Deployments());
  stored.Apply("one", R"({"spec":{"template":{"spec":{"containers":[{"name":"c","image":"i",
      "ports":[{"containerPort":80}],"env":[{"name":"A","value":"1"}]}]}}}})");
  stored.object["spec"]["template"]["spec"]["containers"][0]["ports"][0]["protocol"] = "TCP";
  stored.Apply("four", R"({"spec":{"template":{"spec":{"containers":[{"name":"c",
      "ports":[{"containerPort":81},{"containerPort":80,"protocol":"UDP"}],"env":[{"name":"B","value":"2"}]}]}}}})");
  EXPECT_EQ(
      stored.Applied_("four"),
      R"({"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},)"
      R"("f:env":{"k:{\"name\":\"B\"}":{".":{},"f:name":{},"f:value":{}}},"f:name":{},)"
      R"("f:ports":{"k:{\"containerPort\":80,\"protocol\":\"UDP\"}":{".":{},"f:containerPort":{},"f:protocol":{}},)"
      R"("k:{\"containerPort\":81,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{}}}}}}}}})");
  const Json& container = stored.object["spec"]["template"]["spec"]["containers"][0];
  EXPECT_EQ(container["ports"].size(), 3u);
  EXPECT_EQ(container["env"].size(), 2u);
  EXPECT_EQ(container["image"], "i");
}

TEST(Apply, TheOrderOfAListIsTheConfigurationsAroundTheObjectsItems) {
  struct Case {
    const char* object;
    const char* config;
    const char* merged;
  };
  for (const Case& c : {Case{"abc", "d", "abcd"}, Case{"abc", "ca", "bca"}, Case{"abc", "da", "dabc"},
                        Case{"abcd", "dcba", "dcba"}, Case{"", "ba", "ba"}, Case{"abc", "xb", "axbc"},
                        Case{"abc", "bxc", "abxc"}}) {
    Stored stored(Pods());
    auto containers = [](const char* names) {
      Json list = Json::array();
      for (const char* at = names; *at != 0; ++at)
        list.push_back({{"name", std::string(1, *at)}, {"image", "i"}});
      return Json{{"spec", {{"containers", list}}}}.dump();
    };
    if (*c.object != 0) stored.Update("one", containers(c.object).c_str());
    stored.Apply("two", containers(c.config).c_str());
    std::string order;
    for (const Json& container : stored.object["spec"]["containers"])
      order += container["name"].get<std::string>();
    EXPECT_EQ(order, c.merged) << c.object << " <- " << c.config;
  }
}

TEST(Apply, AnAtomicListHasOneOwner) {
  Stored stored(Pods());
  stored.Apply("one", R"({"spec":{"containers":[{"name":"c","args":["a","b"]}]}})");
  EXPECT_EQ(stored.ConflictOf("five", R"({"spec":{"containers":[{"name":"c","args":["z"]}]}})"),
            "Apply failed with 1 conflict: conflict with \"one\": .spec.containers[name=\"c\"].args");
}

TEST(Apply, SetsAreMergedByValue) {
  Stored stored(ConfigMaps());
  stored.Apply("one", R"({"metadata":{"finalizers":["a.io/x","a.io/y"]}})");
  stored.Apply("two", R"({"metadata":{"finalizers":["a.io/y","a.io/z"]}})");
  EXPECT_EQ(stored.Applied_("two"),
            R"({"f:metadata":{"f:finalizers":{"v:\"a.io/y\"":{},"v:\"a.io/z\"":{}}}})");
  stored.Apply("one", R"({"metadata":{"name":"c"}})");
  EXPECT_EQ(stored.object["metadata"]["finalizers"], Json::parse(R"(["a.io/y","a.io/z"])"));
}

TEST(Apply, AnObjectWithoutOwnersBelongsToBeforeFirstApply) {
  Stored stored(ConfigMaps());
  stored.object = Json::parse(R"({"metadata":{"name":"c"},"data":{"a":"1","b":"1"}})");
  EXPECT_EQ(stored.ConflictOf("me", R"({"data":{"a":"2"}})"),
            "Apply failed with 1 conflict: conflict with \"before-first-apply\" using v1: .data.a");
  stored.Apply("me", R"({"data":{"a":"1"}})");
  EXPECT_EQ(stored.Updated("before-first-apply"), R"({"f:data":{".":{},"f:a":{},"f:b":{}}})");
  EXPECT_EQ(stored.Applied_("me"), R"({"f:data":{"f:a":{}}})");
}

TEST(Apply, ValuesThatDifferInFormOnlyAreEqual) {
  Stored stored(Pods());
  stored.Update(
      "one", R"({"spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":"1","memory":"1Gi"}}}]}})");
  EXPECT_EQ(
      stored.ConflictOf(
          "two",
          R"({"spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":"1000m","memory":"1024Mi"}}}]}})"),
      "no conflict");
  EXPECT_EQ(
      stored.ConflictOf("two", R"({"spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":1}}}]}})"),
      "no conflict");
}

TEST(Apply, ReportsWhatDoesNotFitTheSchema) {
  struct Case {
    const char* config;
    const char* error;
  };
  for (const Case& c : {
           Case{R"({"data":{"a":1}})", ".data.a: expected string, got &value.valueUnstructured{Value:1}"},
           Case{R"({"bogus":1})", ".bogus: field not declared in schema"},
           Case{R"({"bogus":null})", ".bogus: field not declared in schema"},
           Case{R"({"data":"x"})", ".data: expected map, got &{x}"},
           Case{R"({"metadata":{"finalizers":"x"}})", ".metadata.finalizers: expected list, got &{x}"},
           Case{R"({"immutable":"yes"})", ".immutable: expected boolean, got &{yes}"},
           Case{R"({"metadata":{"generation":"1"}})",
                ".metadata.generation: expected numeric (int or float), got string"},
           Case{R"({"metadata":{"finalizers":["a","a"]}})",
                ".metadata.finalizers: duplicate entries for key [=\"a\"]"},
           Case{R"({"bogus":1,"data":{"a":true}})",
                "errors:\n  .bogus: field not declared in schema\n  .data.a: expected string, got "
                "&value.valueUnstructured{Value:true}"},
       })
    EXPECT_EQ(CheckTypes(ConfigMaps().type, Json::parse(c.config)), c.error) << c.config;

  // The text of kube-apiserver 1.36. A value that may be a number or a string is left to the decoder.
  const Json config = Json::parse(R"({"spec":{"replicas":"3","paused":"x","selector":"q",
      "template":{"spec":{"containers":[{"name":1},{"x":1}]}},"strategy":{"rollingUpdate":{"maxSurge":{"a":1}}}}})");
  EXPECT_EQ(CheckTypes(Deployments().type, config),
            "errors:\n  .spec.paused: expected boolean, got &{x}\n"
            "  .spec.replicas: expected numeric (int or float), got string\n"
            "  .spec.selector: expected map, got &{q}\n"
            "  .spec.template.spec.containers[name=1].name: expected string, got "
            "&value.valueUnstructured{Value:1}\n"
            "  .spec.template.spec.containers[name=\"\"].x: field not declared in schema");
}

TEST(LastApplied, FieldsOfClientSideApplyDoNotConflict) {
  Stored stored(ConfigMaps());
  const char* last =
      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"a":"1","b":"1"}})";
  Json object = {
      {"metadata", {{"name", "c"}, {"annotations", {{std::string(kLastAppliedAnnotation), last}}}}},
      {"data", {{"a", "1"}, {"b", "2"}}}};
  stored.Update("kubectl-client-side-apply", object.dump().c_str());
  ApplyOutcome outcome = stored.TryApply("kubectl", R"({"data":{"a":"5","b":"5"}})");
  ASSERT_TRUE(std::holds_alternative<FieldConflicts>(outcome));
  const FieldConflicts left =
      WithoutLastApplied(stored.type, stored.object, "v1", std::get<FieldConflicts>(outcome));
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(PathText(left[0].path), ".data.b");
}

TEST(LastApplied, TheAnnotationFollowsTheConfiguration) {
  Json object = Json::parse(
      R"({"metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{}"}}})");
  UpdateLastApplied(Json::parse(R"({"kind":"ConfigMap","data":{"a":"1"}})"), object);
  EXPECT_EQ(object["metadata"]["annotations"][std::string(kLastAppliedAnnotation)],
            "{\"data\":{\"a\":\"1\"},\"kind\":\"ConfigMap\"}\n");
  UpdateLastApplied(Json{{"data", {{"a", std::string(300'000, 'x')}}}}, object);
  EXPECT_FALSE(object["metadata"]["annotations"].contains(std::string(kLastAppliedAnnotation)));
}

TEST(ScaleOwners, ReplicasAreSeenAsTheScales) {
  Stored stored(Deployments());
  stored.Apply("one", R"({"spec":{"replicas":3,"minReadySeconds":1}})");
  const FieldPath replicas = {PathElement::Field("spec"), PathElement::Field("replicas")};
  ManagedFields scale = OwnersOfScale(stored.managed, replicas);
  ASSERT_EQ(scale.entries().size(), 1u);
  EXPECT_EQ(scale.entries()[0].manager.api_version.text(), "autoscaling/v1");

  FieldManager scaler = Manager("scaler", false, "autoscaling/v1");
  scaler.subresource = MemberName("scale");
  scale.entries()[0] = {scaler, kNow, scale.entries()[0].fields};
  const ManagedFields owners = OwnersFromScale(stored.managed, scale, replicas, MemberName("apps/v1"));
  EXPECT_EQ(FieldsOf(owners, Manager("one", true)), R"({"f:spec":{"f:minReadySeconds":{}}})");
  scaler.api_version = MemberName("apps/v1");
  EXPECT_EQ(FieldsOf(owners, scaler), R"({"f:spec":{"f:replicas":{}}})");
  EXPECT_EQ(owners.Find(scaler)->time, std::nullopt);
}

TEST(ManagedFields, AreWrittenAsTheyWereRead) {
  const Json list = Json::parse(R"([
      {"manager":"b","operation":"Apply","apiVersion":"v1","time":"2026-01-01T00:00:01Z","fieldsType":"FieldsV1",
       "fieldsV1":{"f:data":{"f:a":{}}}},
      {"manager":"a","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:x":{}},
       "subresource":"status"}])");
  std::string error;
  auto managed = ReadManagedFields(list, &error);
  ASSERT_TRUE(managed.has_value()) << error;
  EXPECT_EQ(ManagedFieldsJson(*managed), list);
  std::string text;
  AppendManagedFields(*managed, text);
  EXPECT_EQ(Json::parse(text), list);
  EXPECT_TRUE(text.starts_with(R"([{"manager":"b","operation":"Apply","apiVersion":"v1","time":)"));
}

TEST(ManagedFields, EntriesAreCheckedAsInKubernetes) {
  struct Case {
    const char* list;
    const char* error;
  };
  for (const Case& c : {
           Case{R"([{"manager":"x"}])", "operation must be `Apply` or `Update`"},
           Case{R"([{"operation":"Apply"}])", "apiVersion must not be empty"},
           Case{R"([{"operation":"Apply","apiVersion":"v1"}])",
                "missing fieldsType in managed fields entry 0"},
           Case{R"([{"operation":"Apply","apiVersion":"v1","fieldsType":"X"}])",
                "invalid fieldsType \"X\" in managed fields entry 0"},
       }) {
    std::string error;
    EXPECT_FALSE(ReadManagedFields(Json::parse(c.list), &error).has_value());
    EXPECT_EQ(error, c.error);
  }
}

TEST(ManagedFields, AnEmptyListOrEntryIsAReset) {
  EXPECT_TRUE(IsReset(Json::parse("[]")));
  EXPECT_TRUE(IsReset(Json::parse("[{}]")));
  EXPECT_FALSE(IsReset(Json::parse("[{},{}]")));
  EXPECT_FALSE(IsReset(Json(nullptr)));
}

}  // namespace
}  // namespace terrarium::api
