#include "controllers/pod_gc/pod_garbage_collector.h"

#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include "api/core_v1/pod.h"
#include "api/json_access.h"
#include "apiserver/header.h"
#include "apiserver/in_process_client.h"
#include "testbed/control_plane/components.h"
#include "tests/controllers/node_lifecycle/node_testing.h"

namespace terrarium::controllers {
namespace {

using api::Json;
using api::StringAt;
using testbed::Testbed;
using namespace std::chrono_literals;

TEST(PodHeader, HoldsNodeAndPhaseAsSelectableFields) {
  Testbed bed({.kubelet = false, .scheduler = false, .nodes = 0});
  auto pod = bed.Must(bed.Create("pods", "default", PodOn("web", "somewhere")));
  EXPECT_EQ(api::PodNodeName(*pod), "somewhere");
  EXPECT_EQ(api::PodPhase(*pod), "Pending");
}

// Status writes and deletes keep the stored text of unchanged members. The header must stay equal, too.
void ExpectHeaderOfDocument(const api::ObjectPtr& pod) {
  ASSERT_NE(pod, nullptr);
  const api::ObjectHeader& header = pod->header();
  const api::ObjectHeader wanted = apiserver::DeriveHeaderOfStored("pods", pod->Parse());
  EXPECT_EQ(pod->name(), (api::ObjectName{wanted.ns, wanted.name}));
  EXPECT_EQ(header.uid, wanted.uid);
  EXPECT_EQ(header.revision, wanted.revision);
  EXPECT_EQ(header.labels, wanted.labels);
  EXPECT_EQ(header.fields, wanted.fields);
  ASSERT_NE(header.controller, nullptr);
  EXPECT_EQ(*header.controller, *wanted.controller);
  EXPECT_EQ(header.phase, wanted.phase);
  EXPECT_EQ(header.node_name, wanted.node_name);
  EXPECT_EQ(header.deleting, wanted.deleting);
  EXPECT_EQ(header.has_finalizers, wanted.has_finalizers);
  EXPECT_EQ(header.disruption_target, wanted.disruption_target);
}

TEST(PodHeader, IsThatOfTheDocumentAfterEveryKindOfWrite) {
  Testbed bed({.nodes = 1});
  const Json labels = {{"app", "web"}};
  const Json pod_spec = {{"containers", {{{"name", "c"}, {"image", "i"}}}}};
  const Json replica_set = {{"metadata", {{"name", "web"}}},
                            {"spec",
                             {{"replicas", 1},
                              {"selector", {{"matchLabels", labels}}},
                              {"template", {{"metadata", {{"labels", labels}}}, {"spec", pod_spec}}}}}};
  bed.Must(bed.Create("replicasets", "default", replica_set));
  bed.clock().Advance(5s);
  const api::ObjectName name = bed.List("pods", "default").at(0)->name();
  auto pod = [&] { return bed.Get("pods", name.ns, name.name); };
  ExpectHeaderOfDocument(pod());
  EXPECT_EQ(api::PodPhase(*pod()), "Running");
  bed.Must(bed.Patch("pods", name, {{"metadata", {{"finalizers", {"example.com/held"}}}}}));
  ExpectHeaderOfDocument(pod());
  EXPECT_TRUE(pod()->header().has_finalizers);
  bed.Must(bed.Evict(name));
  ExpectHeaderOfDocument(pod());
  EXPECT_TRUE(pod()->header().disruption_target);
  EXPECT_TRUE(pod()->header().deleting);
  bed.clock().Advance(1min);
  ExpectHeaderOfDocument(pod());
  EXPECT_TRUE(api::IsPodTerminal(*pod()));
}

TEST(PodGarbageCollector, APodBoundToANodeThatWasNeverThereIsAnOrphan) {
  Testbed bed({.nodes = 1});
  PodHistory history(bed, "web");
  bed.Must(bed.Create("pods", "default", PodOn("web", "nowhere")));
  bed.clock().Advance(39s);
  EXPECT_FALSE(history.Gone());
  bed.clock().Advance(1s);
  EXPECT_TRUE(history.Gone());
  EXPECT_EQ(history.Phases(), (std::vector<std::string>{"Pending", "Failed"}));
  EXPECT_EQ(ConditionStatus(history.Last(), "DisruptionTarget"), "True");
  const std::string metrics = bed.control_plane().components().MetricsText();
  EXPECT_NE(
      metrics.find("pod_gc_collector_force_delete_pods_total{namespace=\"default\",reason=\"orphaned\"} 1"),
      std::string::npos)
      << metrics;
}

// KEP-3939, gc_controller a: Set `PodPhase` to `failed` when `JobPodReplacementPolicy` true but
// `PodDisruptionConditions` is false.
TEST(PodGarbageCollector, UnitAAnOrphanFailsWithEitherGateAndHasAConditionWithOne) {
  struct Case {
    const char* gates;
    std::vector<std::string> phases;
    std::string condition;
  };
  const Case cases[] = {
      {"JobPodReplacementPolicy=true,PodDisruptionConditions=false", {"Pending", "Failed"}, ""},
      {"JobPodReplacementPolicy=false,PodDisruptionConditions=true", {"Pending", "Failed"}, "True"},
      {"JobPodReplacementPolicy=false,PodDisruptionConditions=false", {"Pending"}, ""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.gates);
    Testbed bed({.feature_gates = c.gates, .nodes = 1});
    PodHistory history(bed, "web");
    bed.Must(bed.Create("pods", "default", PodOn("web", "nowhere")));
    bed.clock().Advance(40s);
    EXPECT_TRUE(history.Gone());
    EXPECT_EQ(history.Phases(), c.phases);
    EXPECT_EQ(ConditionStatus(history.Last(), "DisruptionTarget"), c.condition);
  }
}

TEST(PodGarbageCollector, ANodeThatComesBackInTimeKeepsItsPods) {
  Testbed bed({.nodes = 1});
  bed.Must(bed.Create("pods", "default", PodOn("web", "node-0")));
  bed.clock().Advance(10s);
  bed.Must(bed.Delete("nodes", {"", "node-0"}));
  bed.clock().Advance(30s);
  bed.Must(bed.Create("nodes", "", {{"metadata", {{"name", "node-0"}}}}));
  bed.clock().Advance(10min);
  EXPECT_NE(bed.Get("pods", "default", "web"), nullptr);
}

TEST(PodGarbageCollector, APodHeldByAFinalizerFailsOnceAndIsLeftAlone) {
  Testbed bed({.nodes = 1});
  Json pod = PodOn("web", "nowhere");
  pod["metadata"]["finalizers"] = Json::array({"example.com/hold"});
  bed.Must(bed.Create("pods", "default", pod));
  bed.clock().Advance(1min);
  ASSERT_EQ(StringAt(PodOf(bed, "web"), "status", "phase"), "Failed");
  EXPECT_TRUE(bed.Get("pods", "default", "web")->header().deleting);
  const std::int64_t revision = bed.Get("pods", "default", "web")->revision();
  bed.clock().Advance(10min);
  EXPECT_EQ(bed.Get("pods", "default", "web")->revision(), revision);
}

TEST(PodGarbageCollector, ATerminatingPodWithoutANodeIsCollectedAtTheNextCheck) {
  Testbed bed({.scheduler = false, .nodes = 1});
  Json pod = PodOn("web", "");
  pod["metadata"]["finalizers"] = Json::array({"example.com/hold"});
  bed.Must(bed.Create("pods", "default", pod));
  bed.Must(bed.Delete("pods", {"default", "web"}));
  bed.clock().Advance(20s);
  EXPECT_EQ(StringAt(PodOf(bed, "web"), "status", "phase"), "Failed");
  EXPECT_EQ(ConditionStatus(PodOf(bed, "web"), "DisruptionTarget"), "");
  bed.Must(bed.Patch("pods", {"default", "web"}, {{"metadata", {{"finalizers", nullptr}}}}));
  EXPECT_EQ(bed.Get("pods", "default", "web"), nullptr);
}

TEST(PodGarbageCollector, TerminatingPodsOfANodeOutOfServiceAreCollected) {
  Testbed bed({.nodes = 2});
  bed.Must(bed.Create("pods", "default", PodOn("web", "node-0")));
  bed.Must(bed.Create("pods", "default", PodOn("stays", "node-0")));
  bed.clock().Advance(10s);
  FailNode(bed, "node-0");
  bed.clock().Advance(1min);
  bed.Must(bed.Delete("pods", {"default", "web"}));
  bed.clock().Advance(2min);
  ASSERT_NE(bed.Get("pods", "default", "web"), nullptr);
  PodHistory history(bed, "web");
  // A taint with the effect NoSchedule does not evict pods.
  Json taints = NodeOf(bed, "node-0")["spec"]["taints"];
  taints.push_back(
      Json{{"key", "node.kubernetes.io/out-of-service"}, {"value", "down"}, {"effect", "NoSchedule"}});
  bed.Must(bed.Patch("nodes", {"", "node-0"}, {{"spec", {{"taints", taints}}}}));
  bed.clock().Advance(20s);
  EXPECT_TRUE(history.Gone());
  EXPECT_EQ(history.Phases().back(), "Failed");
  EXPECT_NE(bed.Get("pods", "default", "stays"), nullptr);
}

// A separate collector with a threshold of two, beside a cluster without one.
class SmallCollector {
 public:
  explicit SmallCollector(Testbed& bed)
      : prng_(7),
        log_("collector"),
        env_{bed.control_plane().runtime(), bed.control_plane().runtime().Lane("collector"), prng_, gates_,
             log_},
        client_(apiserver::MakeInProcessClient(env_, bed.control_plane().handler(),
                                               bed.control_plane().store(), {})),
        informers_(env_, *client_),
        recorder_(env_, *client_),
        controller_(MakePodGarbageCollector({env_, *client_, informers_, recorder_, metrics_, why_},
                                            {.terminated_pod_threshold = 2})) {
    informers_.OnSynced([this] { controller_->Start(); });
    informers_.Start();
  }

 private:
  api::Prng prng_;
  api::FeatureGates gates_;
  spdlog::logger log_;
  api::Env env_;
  std::unique_ptr<api::Client> client_;
  InformerSet informers_;
  EventRecorder recorder_;
  Metrics metrics_;
  WhyLog why_;
  std::unique_ptr<Controller> controller_;
};

TEST(PodGarbageCollector, EndedPodsAboveTheThresholdGoOldestFirst) {
  Testbed bed({.controllers = "*,-pod-garbage-collector-controller",
               .kubelet = false,
               .scheduler = false,
               .nodes = 0});
  SmallCollector collector(bed);
  for (const char* name : {"d", "c", "b", "a", "running"}) {
    bed.Must(bed.Create("pods", "default", PodOn(name, "")));
    bed.clock().Advance(1s);
    if (std::string_view(name) == "running") continue;
    bed.Must(bed.Patch("pods", {"default", name}, {{"status", {{"phase", "Succeeded"}}}}, "status"));
  }
  bed.clock().Advance(20s);
  std::set<std::string> left;
  for (const auto& pod : bed.List("pods")) left.insert(pod->header().name);
  EXPECT_EQ(left, (std::set<std::string>{"a", "b", "running"}));
}

}  // namespace
}  // namespace terrarium::controllers
