// The objects that every cluster has from the start.

#include <set>

#include <gtest/gtest.h>

#include "api/json_access.h"
#include "testbed/embedding/testbed.h"

namespace terrarium::testbed {
namespace {

using api::StringAt;

std::set<std::string> Names(Testbed& bed, const char* resource) {
  std::set<std::string> names;
  for (const api::ObjectPtr& object : bed.List(resource)) names.insert(object->header().name);
  return names;
}

TEST(Bootstrap, ABareServerHasWhatKubeApiserverCreates) {
  Testbed bed({.controllers = "-*", .kubelet = false, .scheduler = false, .nodes = 0});
  EXPECT_EQ(Names(bed, "priorityclasses"),
            (std::set<std::string>{"system-cluster-critical", "system-node-critical"}));
  EXPECT_EQ(Names(bed, "servicecidrs"), std::set<std::string>{"kubernetes"});
  EXPECT_EQ(Names(bed, "prioritylevelconfigurations"),
            (std::set<std::string>{"catch-all", "exempt", "global-default", "leader-election", "node-high",
                                   "system", "workload-high", "workload-low"}));
  EXPECT_EQ(bed.List("flowschemas").size(), 11u);
  for (const api::ObjectPtr& schema : bed.List("flowschemas")) {
    const auto document = schema->Document();
    EXPECT_TRUE(
        Names(bed, "prioritylevelconfigurations")
            .contains(std::string(StringAt(*document, "spec", "priorityLevelConfiguration", "name"))));
  }
  auto cidr = bed.Get("servicecidrs", "", "kubernetes")->Document();
  EXPECT_EQ(api::ListAt(*cidr, "spec", "cidrs")[0], "10.96.0.0/12");
  EXPECT_EQ(StringAt(api::ListAt(*cidr, "status", "conditions")[0], "type"), "Ready");
  EXPECT_EQ(StringAt(*bed.Get("namespaces", "", "default")->Document(), "metadata", "labels",
                     "kubernetes.io/metadata.name"),
            "default");
}

TEST(Bootstrap, EveryObjectHasAUidOfItsOwn) {
  Testbed bed({.controllers = "-*", .kubelet = false, .scheduler = false, .nodes = 0}), other({.seed = 2});
  std::set<std::string> uids;
  std::size_t count = 0;
  for (Testbed* each : {&bed, &other})
    for (const char* resource : {"namespaces", "services", "priorityclasses", "flowschemas"})
      for (const api::ObjectPtr& object : each->List(resource)) {
        ++count;
        uids.insert(object->header().uid);
      }
  EXPECT_EQ(uids.size(), count);
}

}  // namespace
}  // namespace terrarium::testbed
