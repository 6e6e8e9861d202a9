#pragma once

// Random Deployments, drawn from a seed: their specs, the behaviour of their pods, and actions of users and
// nodes. Then only working templates are left and no more actions follow. The cluster's monitor checks all of
// it.

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "api/base/prng.h"
#include "api/json.h"
#include "api/object.h"
#include "testbed/embedding/testbed.h"

namespace terrarium::scenarios {

class RandomRollout {
 public:
  explicit RandomRollout(std::uint64_t seed);

  void Live(int steps);
  // No more user actions, all nodes recover, and every template works.
  void LeaveAlone();
  // The violations once the cluster is idle; empty: none.
  std::string Faults();
  // All actions with their time, for the analysis of a failure.
  const std::string& story() const { return story_; }
  const std::string& broken() const { return broken_; }  // the first broken invariant

 private:
  template <typename T>
  T OneOf(std::initializer_list<T> choices) {
    return choices.begin()[chance_.Below(choices.size())];
  }
  int Below(int bound) { return static_cast<int>(chance_.Below(static_cast<std::uint64_t>(bound))); }

  void CreateDeployments();
  api::Json Strategy();
  api::Json Template(const std::string& app, bool healthy);
  void Step();
  void PatchOne(const std::string& what, const api::Json& spec);
  void Patch(const std::string& name, const std::string& what, const api::Json& patch);
  void UndoOne();
  // An action on a pod, if there is one: "delete", "evict", "fail", "crash".
  void Trouble(const std::string& what);
  void FailOrRecoverNode();
  void Pass(api::Duration time);
  void Note(const std::string& what);

  std::string FaultsOf(const std::string& name);
  std::string FaultsOfStatus(const api::Json& deployment);
  std::string FaultsOfSets(const api::Json& deployment);

  api::Prng chance_;
  std::string story_;
  std::string broken_;
  testbed::Testbed bed_;
  std::vector<std::string> names_;
  int templates_ = 0;
};

}  // namespace terrarium::scenarios
