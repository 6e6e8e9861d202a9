#include "tests/kubelet-fake/scheduler/objects.h"

#include "apiserver/header.h"

namespace terrarium::kubelet_fake::scheduling {

using api::Json;

Json NodeDocument(const std::string& name, const Json& more) {
  Json node = {{"metadata", {{"name", name}, {"labels", {{"kubernetes.io/hostname", name}}}}},
               {"spec", Json::object()},
               {"status", {{"allocatable", {{"cpu", "4"}, {"memory", "8Gi"}, {"pods", "110"}}}}}};
  node.merge_patch(more);
  return node;
}

Json PodDocument(const std::string& name, const Json& more) {
  Json containers = Json::array();
  containers.push_back({{"name", "main"}, {"image", "app:1"}});
  Json pod = {{"metadata", {{"name", name}, {"namespace", "default"}}},
              {"spec", {{"schedulerName", "default-scheduler"}, {"containers", containers}}}};
  pod.merge_patch(more);
  return pod;
}

Json PodWithRequests(const std::string& name, const Json& requests) {
  Json pod = PodDocument(name);
  pod["spec"]["containers"][0]["resources"]["requests"] = requests;
  return pod;
}

Json PodTermSpec(const std::string& kind, const std::string& app, const std::string& topology_key) {
  Json terms = Json::array();
  terms.push_back({{"topologyKey", topology_key}, {"labelSelector", {{"matchLabels", {{"app", app}}}}}});
  return {{"affinity", {{kind, {{"requiredDuringSchedulingIgnoredDuringExecution", terms}}}}}};
}

api::ObjectPtr Node(const std::string& name, const Json& more) {
  const Json document = NodeDocument(name, more);
  return api::Object::Make(apiserver::DeriveHeaderOfStored("nodes", document), document);
}

api::ObjectPtr Pod(const Json& document) {
  return api::Object::Make(apiserver::DeriveHeaderOfStored("pods", document), document);
}

api::ObjectPtr Namespace(const std::string& name, const Json& labels) {
  const Json document = {{"metadata", {{"name", name}, {"labels", labels}}}};
  return api::Object::Make(apiserver::DeriveHeaderOfStored("namespaces", document), document);
}

}  // namespace terrarium::kubelet_fake::scheduling
