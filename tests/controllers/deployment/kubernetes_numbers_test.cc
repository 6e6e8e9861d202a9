// Results of Kubernetes 1.36 for random Deployments in mid-rollout, recorded from its own functions. Without
// TerminationComplete Terrarium must compute the same numbers. testdata/kubernetes_numbers.txt has one case
// per line:
//
//   scale REPLICAS MAX_SURGE MAX_UNAVAILABLE STATUS_REPLICAS | SURGE UNAVAILABLE | SET, SET, ... |
//   SIZE SIZE ...
//
//
// `scale` is scale(), `new` reconcileNewReplicaSet(), `shrink` reconcileOldReplicaSets(). A SET is its
// creation time, spec.replicas, availableReplicas and max-replicas annotation; the last one is of the current
// template. Sets created at the same time are named in their order. The SIZEs are the results.

#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "controllers/deployment/internal/proportional_scaling.h"
#include "controllers/deployment/internal/rollout.h"
#include "tests/controllers/deployment/arithmetic_testing.h"

namespace terrarium::controllers::deployment {
namespace {

constexpr const char* kFile = "tests/controllers/deployment/testdata/kubernetes_numbers.txt";

struct Recorded {
  std::string function;
  DeploymentSize deployment;
  Fenceposts posts;  // as Kubernetes resolved them
  api::Json max_surge;
  api::Json max_unavailable;
  std::vector<ReplicaSetSize> sets;
  std::vector<std::int64_t> sizes;
};

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

api::Json IntOrPercent(const std::string& text) {
  if (text.ends_with('%')) return text;
  return std::stoll(text);
}

ReplicaSetSize ParseSet(const std::string& text, char name) {
  std::istringstream in(text);
  std::int64_t created = 0;
  std::int64_t replicas = 0;
  std::int64_t available = 0;
  std::string max;
  in >> created >> replicas >> available >> max;
  ReplicaSetSize set = Available(available, Set(std::string(1, name), replicas));
  set.created = api::Time(std::chrono::seconds(created));
  if (max != "-") set.max = std::stoll(max);
  return set;
}

Recorded Parse(const std::string& line) {
  std::vector<std::string> parts = Split(line, '|');
  Recorded recorded;
  std::string surge;
  std::string unavailable;
  std::istringstream(parts.at(0)) >> recorded.function >> recorded.deployment.replicas >> surge >>
      unavailable >> recorded.deployment.status_replicas;
  recorded.max_surge = IntOrPercent(surge);
  recorded.max_unavailable = IntOrPercent(unavailable);
  std::istringstream(parts.at(1)) >> recorded.posts.surge >> recorded.posts.unavailable;
  char name = 'a';
  for (const std::string& set : Split(parts.at(2), ',')) recorded.sets.push_back(ParseSet(set, name++));
  std::istringstream sizes(parts.at(3));
  for (std::int64_t size = 0; sizes >> size;) recorded.sizes.push_back(size);
  return recorded;
}

std::vector<std::int64_t> OurSizes(const Recorded& recorded) {
  if (recorded.function == "scale") return ScaledSizes(recorded.deployment, recorded.sets);
  std::vector<std::int64_t> sizes = Sizes(recorded.sets);
  std::size_t new_index = sizes.size() - 1;
  if (recorded.function == "new")
    sizes[new_index] = NewReplicas(recorded.deployment, recorded.sets, new_index);
  if (recorded.function == "shrink")
    for (const Resize& resize : ShrinkOld(recorded.deployment, recorded.sets, new_index))
      sizes[resize.index] = resize.replicas;
  return sizes;
}

TEST(KubernetesNumbers, AreOurs) {
  std::ifstream file(kFile);
  int cases = 0;
  for (std::string line; std::getline(file, line); ++cases) {
    Recorded recorded = Parse(line);
    DeploymentSize& deployment = recorded.deployment;
    Fenceposts posts = ResolveFenceposts(&recorded.max_surge, &recorded.max_unavailable, deployment.replicas);
    deployment.max_surge = posts.surge;
    deployment.max_unavailable = std::min(posts.unavailable, deployment.replicas);
    EXPECT_EQ(deployment.max_surge, recorded.posts.surge) << line;
    EXPECT_EQ(deployment.max_unavailable, recorded.posts.unavailable) << line;
    EXPECT_EQ(OurSizes(recorded), recorded.sizes) << line;
  }
  EXPECT_GE(cases, 600);
}

}  // namespace
}  // namespace terrarium::controllers::deployment
