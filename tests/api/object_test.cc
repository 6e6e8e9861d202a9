#include "api/object.h"

#include <memory>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/apply/managed_fields.h"

namespace terrarium::api {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

Json Owner(const char* name, bool controller) {
  return {{"apiVersion", "apps/v1"},
          {"kind", "ReplicaSet"},
          {"name", name},
          {"uid", std::string("uid-") + name},
          {"controller", controller}};
}

Json Pod() {
  return {{"metadata",
           {{"namespace", "default"},
            {"name", "web-1"},
            {"uid", "u1"},
            {"resourceVersion", "7"},
            {"labels", {{"app", "web"}, {"a", "b"}}},
            {"finalizers", {"example.com/\"quoted\"", "example.com/last"}},
            {"ownerReferences", {Owner("other", false), Owner("web", true)}}}},
          {"spec", {{"nodeName", "node-3"}}},
          {"status", {{"phase", "Running"}, {"conditions", {{{"type", "DisruptionTarget"}}}}}}};
}

TEST(ObjectHeader, HoldsTheFieldsThatReadersNeed) {
  const ObjectHeader header = ReadHeader(Pod());
  EXPECT_EQ(header.ns, "default");
  EXPECT_EQ(header.name, "web-1");
  EXPECT_EQ(header.uid, "u1");
  EXPECT_EQ(header.revision, 7);
  EXPECT_THAT(header.labels, ElementsAre(Pair("a", "b"), Pair("app", "web")));
  ASSERT_NE(header.controller, nullptr);
  EXPECT_EQ(*header.controller, (OwnerReference{"apps/v1", "ReplicaSet", "web", "uid-web", true, false}));
  EXPECT_EQ(header.phase.text(), "Running");
  EXPECT_EQ(header.node_name, "node-3");
  EXPECT_FALSE(header.deleting);
  EXPECT_TRUE(header.has_finalizers);
  EXPECT_TRUE(header.disruption_target);
}

TEST(ObjectHeader, OfAnEmptyDocumentIsEmpty) {
  const ObjectHeader header = ReadHeader({{"metadata", {{"name", "x"}, {"finalizers", Json::array()}}}});
  EXPECT_EQ(header.controller, nullptr);
  EXPECT_EQ(header.phase.text(), "");
  EXPECT_EQ(header.node_name, "");
  EXPECT_FALSE(header.has_finalizers);
  EXPECT_FALSE(header.disruption_target);
  EXPECT_EQ(ReadHeader(Json::object()).name, "");
}

TEST(ObjectHeader, ObjectsOfOneOwnerShareItsReference) {
  Json other = Pod();
  other["metadata"]["name"] = "web-2";
  EXPECT_EQ(ReadHeader(Pod()).controller, ReadHeader(other).controller);
  other["metadata"]["ownerReferences"][1]["blockOwnerDeletion"] = true;
  EXPECT_TRUE(ReadHeader(other).controller->block_owner_deletion);
  EXPECT_FALSE(ReadHeader(Pod()).controller->block_owner_deletion);
}

TEST(Object, HasOneNameOfNamespaceAndName) {
  const ObjectPtr pod = Object::Make(ReadHeader(Pod()), Pod());
  EXPECT_EQ(pod->name(), (ObjectName{"default", "web-1"}));
  EXPECT_EQ(pod->name().String(), "default/web-1");
  EXPECT_EQ(pod->controller()->name, "web");
}

TEST(FinalizersOf, AreReadFromTheText) {
  const ObjectPtr pod = Object::Make(ReadHeader(Pod()), Pod());
  EXPECT_THAT(FinalizersOf(*pod), ElementsAre("example.com/\"quoted\"", "example.com/last"));
  EXPECT_TRUE(HasFinalizer(*pod, "example.com/last"));
  EXPECT_FALSE(HasFinalizer(*pod, "example.com"));
  Json bare = Pod();
  bare["metadata"].erase("finalizers");
  EXPECT_THAT(FinalizersOf(*Object::Make(ReadHeader(bare), bare)), IsEmpty());
}

ManagedFieldsPtr Owners(const char* list) {
  std::string error;
  auto read = ReadManagedFields(Json::parse(list), &error);
  EXPECT_TRUE(read.has_value()) << error;
  return std::make_shared<const ManagedFields>(std::move(*read));
}

constexpr const char* kOwners =
    R"([{"manager":"me","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1",)"
    R"("fieldsV1":{"f:spec":{"f:nodeName":{}}}}])";

TEST(ObjectOwners, AreInItsTextForClientsAndNotInItsDocument) {
  const ObjectPtr object = Object::Make(ReadHeader(Pod()), Pod(), true, Owners(kOwners));
  EXPECT_FALSE(object->Parse()["metadata"].contains("managedFields"));
  EXPECT_FALSE(object->Document()->at("metadata").contains("managedFields"));
  const Json list = Json::parse(kOwners);
  EXPECT_EQ(object->ParseWithOwners()["metadata"]["managedFields"], list);
  std::string item;
  object->AppendItem(item);
  EXPECT_EQ(Json::parse(item), object->ParseWithOwners());
  const Json text = Json::parse(object->Text("v1", "Pod"));
  EXPECT_EQ(text["kind"], "Pod");
  EXPECT_EQ(text["metadata"]["managedFields"], list);
  EXPECT_EQ(text["metadata"]["resourceVersion"], "7");
}

TEST(ObjectOwners, StayWhenTheRevisionChanges) {
  const ObjectPtr object = Object::Make(ReadHeader(Pod()), Pod(), true, Owners(kOwners));
  const ObjectPtr next = object->AtRevision(123456);
  EXPECT_EQ(next->owners(), object->owners());
  const Json text = Json::parse(next->Text("v1", "Pod"));
  EXPECT_EQ(text["metadata"]["resourceVersion"], "123456");
  EXPECT_EQ(text["metadata"]["managedFields"], Json::parse(kOwners));
}

TEST(ObjectOwners, CanBeLeftOut) {
  const ObjectPtr object = Object::Make(ReadHeader(Pod()), Pod(), true, Owners(kOwners));
  const ObjectPtr without = object->WithOwners(nullptr);
  EXPECT_EQ(without->body(), object->body());
  std::string item;
  without->AppendItem(item);
  EXPECT_EQ(item, object->body());
}

}  // namespace
}  // namespace terrarium::api
