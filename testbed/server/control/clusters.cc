#include <utility>

#include "testbed/server/cluster_manager.h"
#include "testbed/server/control/endpoint.h"

namespace terrarium::testbed::control {
namespace {

void Create(Call call) { call.control.clusters().Create(call.body, std::move(call.reply)); }

void List(Call call) { call.reply(call.control.clusters().List()); }

void Get(Call call) { call.reply(call.control.clusters().Describe(call.names[0])); }

void Delete(Call call) { call.control.clusters().Delete(call.names[0], std::move(call.reply)); }

constexpr Endpoint kEndpoints[] = {
    {"GET", "/clusters", "the clusters besides this one", "", List},
    {"POST", "/clusters",
     "create a cluster with its own clock, gates and objects; settings default to those of the server",
     R"({"name": "a", "clock": "virtual", "nodes": 1, "featureGates": {"DownscalePodPicker": true}})",
     Create},
    {"GET", "/clusters/{name}", "one cluster, with its kubeconfig", "", Get, "a"},
    {"DELETE", "/clusters/{name}", "delete a cluster and its objects", "", Delete, "a"},
};

}  // namespace

std::span<const Endpoint> ClusterEndpoints() { return kEndpoints; }

}  // namespace terrarium::testbed::control
