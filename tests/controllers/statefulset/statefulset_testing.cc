#include "tests/controllers/statefulset/statefulset_testing.h"

#include <algorithm>
#include <utility>

#include <gtest/gtest.h>

#include "api/base/check.h"
#include "api/json_access.h"
#include "api/patch/merge_patch.h"
#include "controllers/history/revision.h"
#include "controllers/runtime/why.h"

namespace terrarium::controllers_testing {

using api::Json;
using testbed::PodView;

namespace {

Json Containers(const std::string& image) { return Json::array({{{"name", "c"}, {"image", image}}}); }

int OrdinalOf(const PodView& pod) { return std::stoi(pod.name().substr(pod.name().rfind('-') + 1)); }

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

}  // namespace

Json StatefulSet(int replicas, const Json& spec) {
  const Json labels = {{"app", "web"}};
  Json whole = {
      {"replicas", replicas},
      {"serviceName", "web"},
      {"selector", {{"matchLabels", labels}}},
      {"template", {{"metadata", {{"labels", labels}}}, {"spec", {{"containers", Containers("web:1")}}}}}};
  auto merged = api::ApplyMergePatch(std::move(whole), spec.is_null() ? Json::object() : spec);
  CHECK(merged.ok());
  return {{"metadata", {{"name", "web"}, {"namespace", "default"}}}, {"spec", *merged}};
}

SetCluster::SetCluster(testbed::TestbedOptions options) : Testbed(std::move(options)) {}

void SetCluster::CreateSet(int replicas, const Json& spec, const Json& script) {
  Json set = StatefulSet(replicas, spec);
  for (const auto& [key, value] : script.items())
    set["spec"]["template"]["metadata"]["annotations"]["terrarium.dev/" + key] = value;
  Must(Create("statefulsets", "default", std::move(set)));
}

void SetCluster::PatchSpec(const Json& spec) {
  Json patch;
  patch["spec"] = spec;
  Must(Patch("statefulsets", {"default", "web"}, std::move(patch)));
}

void SetCluster::SetImage(const std::string& image) {
  PatchSpec({{"template", {{"spec", {{"containers", Containers(image)}}}}}});
}

void SetCluster::Settle() { clock().Settle(); }

void SetCluster::Idle(api::Duration limit) {
  EXPECT_EQ(clock().RunUntilIdle(limit).why, testbed::RunOutcome::Why::kIdle);
}

Json SetCluster::Document() {
  api::ObjectPtr set = Get("statefulsets", "default", "web");
  CHECK(set != nullptr);
  return set->Parse();
}

Json SetCluster::Status() { return api::ObjectAt(Document(), "status"); }

std::int64_t SetCluster::Counter(std::string_view field) { return api::IntAt(Status(), 0, field); }

std::vector<PodView> SetCluster::SetPods() {
  std::vector<PodView> pods = Pods("app=web", "default");
  std::erase_if(pods, [](const PodView& pod) { return pod.controller() != "web"; });
  std::sort(pods.begin(), pods.end(),
            [](const PodView& a, const PodView& b) { return OrdinalOf(a) < OrdinalOf(b); });
  return pods;
}

std::string SetCluster::PodStates() {
  std::vector<std::string> states;
  for (const PodView& pod : SetPods())
    states.push_back(std::to_string(OrdinalOf(pod)) + (pod.deleting() ? "t" : pod.ready() ? "" : "n"));
  return Joined(states);
}

std::string SetCluster::Images() {
  std::vector<std::string> images;
  for (const PodView& pod : SetPods()) {
    const std::string image = pod.field(".spec.containers[0].image").get<std::string>();
    images.push_back(image.substr(image.find(':') + 1));
  }
  return Joined(images);
}

std::vector<std::string> SetCluster::Revisions() {
  std::vector<api::ObjectPtr> revisions = List("controllerrevisions", "default");
  controllers::history::Sort(revisions);
  std::vector<std::string> names;
  for (const api::ObjectPtr& revision : revisions) names.push_back(revision->header().name);
  return names;
}

std::vector<std::string> SetCluster::Decisions() {
  std::vector<std::string> decisions;
  for (const controllers::WhyRecord& record : why().Find("statefulsets", {"default", "web"}))
    decisions.push_back(record.action + " " + record.object.name);
  return decisions;
}

std::string SetCluster::LastRule() {
  const std::vector<controllers::WhyRecord> records = why().Find("statefulsets", {"default", "web"});
  return records.empty() ? "" : records.back().rule;
}

std::vector<std::string> SetCluster::EventTexts() {
  std::vector<std::string> texts;
  for (const testbed::EventView& event : Events("StatefulSet", "web"))
    texts.push_back(event.type() + " " + event.reason() + " " + event.message());
  return texts;
}

}  // namespace terrarium::controllers_testing
