#include "tests/controllers/replicaset/replica_testing.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include <gtest/gtest.h>

#include "api/json_access.h"
#include "controllers/runtime/owner_references.h"
#include "testbed/control_plane/components.h"

namespace terrarium::controllers_testing {

using api::Json;
using api::ObjectPtr;
using namespace std::chrono_literals;

namespace {

Json PodSpec() { return {{"containers", {{{"name", "c"}, {"image", "nginx"}}}}}; }

Json Template(const std::string& name, const Json& annotations) {
  Json metadata = {{"labels", {{"app", name}}}};
  if (!annotations.is_null()) metadata["annotations"] = annotations;
  return {{"metadata", metadata}, {"spec", PodSpec()}};
}

}  // namespace

Json ReplicaSet(const std::string& name, int replicas, const Json& template_annotations) {
  return {{"metadata", {{"name", name}}},
          {"spec",
           {{"replicas", replicas},
            {"selector", {{"matchLabels", {{"app", name}}}}},
            {"template", Template(name, template_annotations)}}}};
}

Json ReplicationController(const std::string& name, int replicas) {
  return {{"metadata", {{"name", name}}},
          {"spec",
           {{"replicas", replicas}, {"selector", {{"app", name}}}, {"template", Template(name, nullptr)}}}};
}

Json Pod(const std::string& name, const Json& labels) {
  return {{"metadata", {{"name", name}, {"labels", labels}}}, {"spec", PodSpec()}};
}

void ReplicaBed::Settle() { ASSERT_EQ(clock().RunUntilIdle(10min).why, testbed::RunOutcome::Why::kIdle); }

ObjectPtr ReplicaBed::Scale(std::string_view resource, const std::string& name, int replicas) {
  return Must(Patch(resource, {"default", name}, {{"spec", {{"replicas", replicas}}}}));
}

Json ReplicaBed::StatusOf(std::string_view resource, const std::string& name) {
  return api::ObjectAt(*Get(resource, "default", name)->Document(), "status");
}

std::string ReplicaBed::Counts(std::string_view resource, const std::string& name) {
  Json status = StatusOf(resource, name);
  auto count = [&](const char* field) { return std::to_string(api::IntAt(status, 0, field)); };
  std::string counts = "replicas " + count("replicas") + " labelled " + count("fullyLabeledReplicas") +
                       " ready " + count("readyReplicas") + " available " + count("availableReplicas");
  if (status.contains("terminatingReplicas")) counts += " terminating " + count("terminatingReplicas");
  return counts;
}

Json ReplicaBed::Controlled(Json owner) {
  const api::ObjectPtr controller =
      Must(Create("configmaps", "default", {{"metadata", {{"name", "controller"}}}}));
  owner["metadata"]["ownerReferences"] = {{{"apiVersion", "v1"},
                                           {"kind", "ConfigMap"},
                                           {"name", "controller"},
                                           {"uid", controller->header().uid},
                                           {"controller", true}}};
  return owner;
}

std::vector<ObjectPtr> ReplicaBed::PodsOf(const ObjectPtr& owner) {
  std::vector<ObjectPtr> pods = List("pods", "default");
  std::erase_if(pods, [&](const ObjectPtr& pod) {
    auto controller = controllers::ControllerOf(*pod->Document());
    return !controller || controller->uid != owner->header().uid;
  });
  return pods;
}

std::vector<std::string> ReplicaBed::PodNamesOf(const ObjectPtr& owner) {
  std::vector<std::string> names;
  for (const ObjectPtr& pod : PodsOf(owner)) names.push_back(pod->header().name);
  return names;
}

std::vector<std::string> ReplicaBed::EventsOf(const ObjectPtr& about) {
  std::vector<std::string> events;
  for (const ObjectPtr& event : List("events", "default")) {
    std::shared_ptr<const Json> document = event->Document();
    if (api::StringAt(*document, "involvedObject", "uid") != about->header().uid) continue;
    auto text = [&](auto... path) { return std::string(api::StringAt(*document, path...)); };
    events.push_back(text("type") + " " + text("reason") + " " + text("message") + " " +
                     text("source", "component"));
  }
  std::sort(events.begin(), events.end());
  return events;
}

double ReplicaBed::StatusWrites(const std::string& resource) {
  apiserver::Request request;
  request.method = "GET";
  request.path = "/metrics";
  std::istringstream lines(Serve(std::move(request)).body);
  double writes = 0;
  for (std::string line; std::getline(lines, line);) {
    auto has = [&](const std::string& label) { return line.find(label) != std::string::npos; };
    if (line.starts_with("apiserver_request_total{") && has(",resource=\"" + resource + "\"") &&
        has("subresource=\"status\""))
      writes += std::strtod(line.c_str() + line.rfind(' '), nullptr);
  }
  return writes;
}

double ReplicaBed::Metric(const std::string& line) {
  const std::string text = "\n" + control_plane().components().MetricsText();
  const std::size_t found = text.find("\n" + line);
  if (found == std::string::npos) return -1;
  const std::size_t value = text.find(' ', found + line.size());
  return std::strtod(text.c_str() + value, nullptr);
}

}  // namespace terrarium::controllers_testing
