#include "testbed/control_plane/object_watch.h"

#include <gtest/gtest.h>

#include "testbed/embedding/testbed.h"

namespace terrarium::testbed {
namespace {

using api::Json;

Json ConfigMap(const std::string& value) {
  return {{"metadata", {{"name", "c"}, {"namespace", "default"}}}, {"data", {{"k", value}}}};
}

std::unique_ptr<ObjectWatch> WatchFor(Testbed& bed, const std::string& condition) {
  auto watch =
      ObjectWatch::Make(bed.control_plane(), {"configmaps", "", "c"}, *ObjectCondition::Parse(condition));
  EXPECT_TRUE(watch.ok());
  return std::move(*watch);
}

TEST(ObjectWatch, SeesStatesThatHavePassed) {
  Testbed bed({.controllers = "", .kubelet = false, .scheduler = false, .nodes = 0});
  auto watch = WatchFor(bed, "jsonpath={.data.k}=b");
  Testbed::Must(bed.Create("configmaps", "default", ConfigMap("a")));
  EXPECT_FALSE(watch->Held());
  api::ObjectPtr b = Testbed::Must(bed.Update("configmaps", ConfigMap("b")));
  Testbed::Must(bed.Update("configmaps", ConfigMap("c")));
  EXPECT_TRUE(watch->Held());
  EXPECT_EQ(watch->revision(), b->revision());
}

TEST(ObjectWatch, BeginsWithTheCurrentState) {
  Testbed bed({.controllers = "", .kubelet = false, .scheduler = false, .nodes = 0});
  EXPECT_TRUE(WatchFor(bed, "delete")->Held());
  EXPECT_FALSE(WatchFor(bed, "create")->Held());
  Testbed::Must(bed.Create("configmaps", "default", ConfigMap("a")));
  EXPECT_TRUE(WatchFor(bed, "create")->Held());
}

TEST(ObjectWatch, RefusesAResourceThatIsNotServed) {
  Testbed bed({.controllers = "", .kubelet = false, .scheduler = false, .nodes = 0});
  EXPECT_EQ(ObjectWatch::Make(bed.control_plane(), {"unicorns", "", "c"}, *ObjectCondition::Parse("create"))
                .status()
                .code,
            404);
}

}  // namespace
}  // namespace terrarium::testbed
