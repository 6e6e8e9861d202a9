#include "tests/controllers/daemonset/daemon_testing.h"

#include <algorithm>
#include <set>

#include "api/json_access.h"

namespace terrarium::controllers_testing {

using api::Json;
using api::ObjectPtr;
using namespace std::chrono_literals;

Json Agent(const std::string& image, const Json& annotations) {
  Json metadata = {{"labels", {{"app", "agent"}}}};
  if (!annotations.is_null()) metadata["annotations"] = annotations;
  return {{"metadata", {{"name", "agent"}}},
          {"spec",
           {{"selector", {{"matchLabels", {{"app", "agent"}}}}},
            {"template",
             {{"metadata", metadata}, {"spec", {{"containers", {{{"name", "c"}, {"image", image}}}}}}}}}}};
}

ObjectPtr DaemonTest::Make(const Json& daemon_set) {
  return bed().Must(bed().Create("daemonsets", "default", daemon_set));
}

void DaemonTest::Settle() { ASSERT_EQ(bed().clock().RunUntilIdle(1h).why, testbed::RunOutcome::Why::kIdle); }

void DaemonTest::Change(const Json& patch) {
  bed().Must(bed().Patch("daemonsets", {"default", "agent"}, patch));
}

void DaemonTest::SetImage(const std::string& image) {
  Json patch;
  patch["spec"]["template"]["spec"]["containers"] = {{{"name", "c"}, {"image", image}}};
  Change(patch);
}

Json DaemonTest::Rolling(const Json& max_unavailable, const Json& max_surge) const {
  Json rolling = {{"maxUnavailable", max_unavailable}, {"maxSurge", max_surge}};
  return {{"type", "RollingUpdate"}, {"rollingUpdate", rolling}};
}

Json DaemonTest::Status() {
  return api::ObjectAt(*bed().Get("daemonsets", "default", "agent")->Document(), "status");
}

std::string DaemonTest::Counts() {
  const Json status = Status();
  auto count = [&](const char* field) { return std::to_string(api::IntAt(status, 0, field)); };
  return "desired " + count("desiredNumberScheduled") + " current " + count("currentNumberScheduled") +
         " misscheduled " + count("numberMisscheduled") + " ready " + count("numberReady") + " available " +
         count("numberAvailable") + " updated " + count("updatedNumberScheduled");
}

std::string DaemonTest::Images() {
  std::set<std::string> pods;
  for (const testbed::PodView& pod : bed().Pods("app=agent"))
    pods.insert(pod.node() + ":" + (pod.deleting() ? "-" : "") +
                std::string(api::StringAt(pod.document()["spec"]["containers"][0], "image")));
  std::string text;
  for (const std::string& pod : pods) text += (text.empty() ? "" : " ") + pod;
  return text;
}

std::vector<std::string> DaemonTest::Nodes() {
  std::vector<std::string> nodes;
  for (const testbed::PodView& pod : bed().Pods("app=agent")) nodes.push_back(pod.node());
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

std::string DaemonTest::PodOn(std::string_view node) {
  for (const testbed::PodView& pod : bed().Pods("app=agent"))
    if (pod.node() == node) return pod.name();
  return "";
}

std::vector<std::string> DaemonTest::Events(std::string_view reason) {
  std::vector<std::string> messages;
  for (const testbed::EventView& event : bed().Events("DaemonSet", "agent"))
    if (event.reason() == reason) messages.push_back(event.message());
  return messages;
}

std::string DaemonTest::Revisions() {
  std::map<std::int64_t, std::string> revisions;
  for (const ObjectPtr& revision : bed().List("controllerrevisions", "default")) {
    const Json document = revision->Parse();
    revisions[document["revision"].get<std::int64_t>()] =
        document["data"]["spec"]["template"]["spec"]["containers"][0]["image"].get<std::string>();
  }
  std::string text;
  for (const auto& [number, image] : revisions)
    text += (text.empty() ? "" : " ") + std::to_string(number) + "=" + image;
  return text;
}

void DaemonTest::Taint(const std::string& node, const std::string& key, const std::string& effect) {
  Json patch;
  patch["spec"]["taints"] = {{{"key", key}, {"effect", effect}}};
  bed().Must(bed().Patch("nodes", {"", node}, patch));
}

void DaemonTest::Untaint(const std::string& node) {
  Json patch;
  patch["spec"]["taints"] = nullptr;
  bed().Must(bed().Patch("nodes", {"", node}, patch));
}

void DaemonTest::Label(const std::string& node, const std::string& key, const Json& value) {
  Json patch;
  patch["metadata"]["labels"][key] = value;
  bed().Must(bed().Patch("nodes", {"", node}, patch));
}

}  // namespace terrarium::controllers_testing
