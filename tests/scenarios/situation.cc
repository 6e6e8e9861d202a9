#include "tests/scenarios/situation.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "api/base/check.h"
#include "api/json_access.h"

namespace terrarium::scenarios {
namespace {

using api::Json;
using api::ObjectPtr;
using api::StringAt;

constexpr std::size_t kSuffixLength = 5;  // of a generated name

bool IsCounted(std::string_view component) {
  return component == "deployment-controller" || component == "replicaset-controller" ||
         component == "controllermanager";
}

std::string ShownCondition(const Json& condition) {
  EXPECT_NE(StringAt(condition, "lastTransitionTime"), "");
  std::string text(StringAt(condition, "type"));
  text.append("=").append(StringAt(condition, "status")).append(" ").append(StringAt(condition, "reason"));
  return text.append(": ").append(StringAt(condition, "message"));
}

std::vector<ObjectPtr> InOrder(testbed::Testbed& bed, std::string_view resource) {
  std::vector<ObjectPtr> objects = bed.List(resource, "default");
  std::stable_sort(objects.begin(), objects.end(), [](const ObjectPtr& a, const ObjectPtr& b) {
    return StringAt(*a->Document(), "metadata", "creationTimestamp") <
           StringAt(*b->Document(), "metadata", "creationTimestamp");
  });
  return objects;
}

}  // namespace

void Situation::Create(std::string_view resource, const std::string& name, const Json& spec) {
  bed_.Must(bed_.Create(resource, "default", {{"metadata", {{"name", name}}}, {"spec", spec}}));
}

void Situation::PatchSpec(std::string_view resource, const std::string& name, const Json& spec) {
  bed_.Must(bed_.Patch(resource, {"default", name}, {{"spec", spec}}));
}

void Situation::RunToTheEnd(api::Duration limit) {
  ASSERT_EQ(bed_.clock().RunUntilIdle(limit).why, testbed::RunOutcome::Why::kIdle);
}

std::string Situation::Named(std::string text) {
  int number = 0;
  for (const ObjectPtr& set : InOrder(bed_, "replicasets")) {
    const std::string* hash = api::FindLabel(set->header(), "pod-template-hash");
    if (hash == nullptr) continue;
    const std::string name = "HASH" + std::to_string(++number);
    for (std::size_t at = text.find(*hash); at != std::string::npos; at = text.find(*hash, at))
      text.replace(at, hash->size(), name);
  }
  return text;
}

Json Situation::Shown(const api::Object& object) {
  auto document = object.Document();
  const Json& metadata = api::ObjectAt(*document, "metadata");
  Json shown = {{"generation", api::IntAt(metadata, 0, "generation")},
                {"status", api::ObjectAt(*document, "status")}};
  for (const char* key : {"labels", "annotations", "finalizers", "generateName"})
    if (const Json* value = api::Find(metadata, key)) shown[key] = *value;
  for (Json owner : api::ListAt(metadata, "ownerReferences")) {
    const bool set = StringAt(owner, "kind") == "ReplicaSet";
    const ObjectPtr there = bed_.Get(set ? "replicasets" : "deployments", "default", StringAt(owner, "name"));
    EXPECT_TRUE(there != nullptr && there->header().uid == StringAt(owner, "uid"));
    owner.erase("uid");
    shown["owners"].push_back(owner);
  }
  Json conditions = Json::array();
  for (const Json& condition : api::ListAt(*document, "status", "conditions"))
    conditions.push_back(ShownCondition(condition));
  shown["status"].erase("conditions");
  if (!conditions.empty()) shown["conditions"] = conditions;
  return Json::parse(Named(shown.dump()));
}

Json Situation::Of(std::string_view resource, const std::string& name) {
  const ObjectPtr object = bed_.Get(resource, "default", name);
  CHECK(object != nullptr);
  return Shown(*object);
}

std::vector<Json> Situation::All(std::string_view resource) {
  std::vector<Json> all;
  for (const ObjectPtr& object : InOrder(bed_, resource)) all.push_back(Shown(*object));
  return all;
}

std::set<std::string> Situation::Events() {
  std::set<std::string> events;
  for (const ObjectPtr& event : bed_.List("events", "default")) {
    auto document = event->Document();
    const std::string component(StringAt(*document, "source", "component"));
    if (!IsCounted(component)) continue;
    std::string message = Named(std::string(StringAt(*document, "message")));
    if (message.find(" pod: ") != std::string::npos)
      message.replace(message.size() - kSuffixLength, kSuffixLength, "*");
    std::string line(StringAt(*document, "involvedObject", "kind"));
    line.append(" ").append(StringAt(*document, "type")).append(" ").append(StringAt(*document, "reason"));
    events.insert(line.append(": ").append(message).append(" (").append(component).append(")"));
  }
  return events;
}

}  // namespace terrarium::scenarios
