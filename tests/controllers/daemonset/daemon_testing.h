#pragma once

// A cluster with a DaemonSet named agent.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "testbed/embedding/gtest/testbed_test.h"

namespace terrarium::controllers_testing {

// Its pods have the label app=agent. `annotations`: the template's, e.g. a pod script.
api::Json Agent(const std::string& image = "agent:1", const api::Json& annotations = nullptr);

class DaemonTest : public testing::TestbedTest {
 protected:
  testbed::TestbedOptions Options() override { return {.nodes = 3}; }

  api::ObjectPtr Make(const api::Json& daemon_set);
  void Settle();
  // Sends a merge patch of the DaemonSet.
  void Change(const api::Json& patch);
  void SetImage(const std::string& image);
  api::Json Rolling(const api::Json& max_unavailable, const api::Json& max_surge) const;

  api::Json Status();
  // "desired 3 current 3 misscheduled 0 ready 3 available 3 updated 3"
  std::string Counts();
  // The pods by node: "node-0:agent:1 node-1:agent:2", terminating ones with a minus sign.
  std::string Images();
  std::vector<std::string> Nodes();  // those with a pod, sorted
  std::string PodOn(std::string_view node);
  // Reason and message of the Events about the DaemonSet.
  std::vector<std::string> Events(std::string_view reason);
  // Revision numbers by image, of its ControllerRevisions: "1=agent:1 2=agent:2".
  std::string Revisions();

  void Taint(const std::string& node, const std::string& key, const std::string& effect);
  void Untaint(const std::string& node);
  void Label(const std::string& node, const std::string& key, const api::Json& value);
};

}  // namespace terrarium::controllers_testing
