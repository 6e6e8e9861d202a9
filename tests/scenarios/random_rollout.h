#pragma once

// A day in the life of some Deployments, drawn from a seed: what they are, what their pods do, what users and
// machines do to them; then they are left alone with templates that work. The cluster's monitor watches over
// all of it.

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
  // Users leave, machines come back, and every template is one that works.
  void LeaveAlone();
  // What is not as it must be once everything has come to rest; empty: nothing.
  std::string Faults();
  // Everything that was done, with its time, for whoever looks into a failure.
  const std::string& story() const { return story_; }
  const std::string& broken() const { return broken_; }  // the first invariant that was

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
  // Does something to a pod, if there is one: "delete", "evict", "fail", "crash".
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
