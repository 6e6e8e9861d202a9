#pragma once

// A cluster with a StatefulSet named "web" in the namespace "default".

#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "testbed/embedding/testbed.h"

namespace terrarium::controllers_testing {

// A set that selects and labels app=web. `spec` is merged over it.
api::Json StatefulSet(int replicas, const api::Json& spec = api::Json::object());

class SetCluster : public testbed::Testbed {
 public:
  explicit SetCluster(testbed::TestbedOptions options = {.nodes = 2});

  // `script` is the pods' script, with keys without their prefix.
  void CreateSet(int replicas, const api::Json& spec = api::Json::object(),
                 const api::Json& script = api::Json::object());
  void PatchSpec(const api::Json& spec);
  void SetImage(const std::string& image);
  void ScaleTo(int replicas) { PatchSpec({{"replicas", replicas}}); }

  // Runs all work that is ready, without advancing the clock.
  void Settle();
  void Advance(api::Duration duration) { clock().Advance(duration); }
  // Runs until the cluster is idle. Fails when that takes longer than the limit.
  void Idle(api::Duration limit = std::chrono::hours(2));

  api::Json Document();
  api::Json Status();
  std::int64_t Counter(std::string_view field);  // of the status; 0 if absent
  // The pods of the set by ordinal: "0 1 2"; a pod that is not ready is 1n, a terminating one 1t.
  std::string PodStates();
  // The images of the pods by ordinal: "1 1 2" for web:1, web:1 and web:2.
  std::string Images();
  // The names of the set's revisions, oldest first.
  std::vector<std::string> Revisions();
  // "create web-0" and so on, of pods and claims, in order.
  std::vector<std::string> Decisions();
  std::string LastRule();
  // "Normal SuccessfulCreate Create Pod ...", of the set, in order.
  std::vector<std::string> EventTexts();

 private:
  std::vector<testbed::PodView> SetPods();  // by ordinal
};

}  // namespace terrarium::controllers_testing
