// Objects of the kinds that are not pods, with too many items of one kind.

#include <algorithm>
#include <string>

#include "tests/hostile/internal/text.h"

namespace terrarium::hostile {
namespace {

constexpr std::string_view kLimitRanges = "/api/v1/namespaces/default/limitranges";

struct KindShape {
  const char* name;
  const char* path;
  const char* before;  // of the repeated text, in the object
  Item item;
  const char* after;
};

Item Same(const char* text) {
  return [text](std::uint32_t) { return text; };
}
// `before`, a different text for each number, `after`.
Item Around(const char* before, const char* after) {
  return [=](std::uint32_t i) { return before + Shuffled(i) + after; };
}
// Each text three times.
Item RepeatedAround(const char* before, const char* after) {
  return [=](std::uint32_t i) { return before + Shuffled(i / 3) + after; };
}

std::string Cidr(std::uint32_t i) {
  return "\"10." + std::to_string(i / 65536 % 256) + "." + std::to_string(i / 256 % 256) + "." +
         std::to_string(i % 256) + "/32\"";
}

std::string Address(std::uint32_t i) {
  return "{\"ip\":\"10." + std::to_string(i / 65536 % 256) + "." + std::to_string(i / 256 % 256) + "." +
         std::to_string(i % 256) + "\"}";
}

std::string LimitRange(const std::string& item) {
  return R"({"metadata":{"name":"l"},"spec":{"limits":[{"type":"Container",)" + item + "}]}}";
}

// "a.b/1":"1" and so on, with every second name of each part.
std::string Amounts(std::size_t bytes, std::uint32_t part) {
  return Repeat(bytes,
                [part](auto i) { return "\"a.b/" + std::to_string(1'000'000 + 2 * i + part) + "\":\"1\""; });
}

void AddWorkloads(std::vector<Shape>& shapes) {
  const std::string pod_template =
      R"("template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}})";
  const std::string selector = R"("selector":{"matchLabels":{"a":"b"}})";
  shapes.push_back(Posted(
      "stateful set: claims", 0, "/apis/apps/v1/namespaces/default/statefulsets", [=](std::size_t bytes) {
        return R"({"metadata":{"name":"x"},"spec":{)" + selector + "," + pod_template +
               R"(,"volumeClaimTemplates":[)" +
               Repeat(bytes, Around(R"({"metadata":{"name":")", R"("},"spec":{}})")) + "]}}";
      }));
  auto job = [=](const std::string& more) {
    return R"({"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}},)" +
           more + "}";
  };
  const char* jobs = "/apis/batch/v1/namespaces/default/jobs";
  shapes.push_back(Posted("job: failure rules", 0, jobs, [=](std::size_t bytes) {
    return R"({"metadata":{"name":"x"},"spec":)" +
           job(R"("podFailurePolicy":{"rules":[)" +
               Repeat(bytes, Same(R"({"action":"Ignore","onExitCodes":{"operator":"In","values":[1]}})")) +
               "]}") +
           "}";
  }));
  shapes.push_back(Posted("job: exit codes", 0, jobs, [=](std::size_t bytes) {
    auto code = [](std::uint32_t i) { return std::to_string(i + 1); };
    return R"({"metadata":{"name":"x"},"spec":)" +
           job(R"("podFailurePolicy":{"rules":[{"action":"Ignore","onExitCodes":{"operator":"In","values":[)" +
               Repeat(bytes, code) + "]}}]}") +
           "}";
  }));
  shapes.push_back(Posted("job: success indexes", 0, jobs, [=](std::size_t bytes) {
    auto index = [](std::uint32_t i) { return std::to_string(2 * i); };
    return R"({"metadata":{"name":"x"},"spec":)" +
           job(R"("completionMode":"Indexed","completions":100000,"parallelism":1,"successPolicy":{"rules":[)"
               R"({"succeededIndexes":")" +
               Repeat(bytes, index) + R"("}]})") +
           "}";
  }));
  for (const auto& [name, text] : {std::pair("numbers", "1,"), std::pair("fields", "1 "),
                                   std::pair("steps", "*/1,"), std::pair("letters", "x")}) {
    shapes.push_back(
        Posted(std::string("cron job: schedule of ") + name, 0, "/apis/batch/v1/namespaces/default/cronjobs",
               [=, text = text](std::size_t bytes) {
                 return R"({"metadata":{"name":"x"},"spec":{"schedule":")" + Repeat(bytes, text, "") +
                        R"( * * * *","jobTemplate":{"spec":)" + job(R"("completions":1)") + "}}}";
               }));
  }
}

void AddLimitRanges(std::vector<Shape>& shapes) {
  shapes.push_back(Posted("limit range: amounts", 0, kLimitRanges, [](std::size_t bytes) {
    return LimitRange("\"default\":{" + Amounts(bytes / 2, 0) + "},\"max\":{" + Amounts(bytes / 2, 1) + "}");
  }));
  shapes.push_back(Posted("limit range: types", 0, kLimitRanges, [](std::size_t bytes) {
    return R"({"metadata":{"name":"l"},"spec":{"limits":[)" +
           Repeat(bytes, RepeatedAround(R"({"type":"a.b/)", "\"}")) + "]}}";
  }));
  // The object before the pod is as large as the store allows.
  for (const char* list : {"min", "default"}) {
    auto make = [list](std::size_t bytes) {
      std::string amounts =
          std::string("\"") + list + "\":{" + Amounts(std::min(bytes, kStoredBytesMax / 4), 0) + "}";
      std::string pod = R"({"metadata":{"name":"x"},"spec":{"containers":[)" +
                        Repeat(bytes, Around("{\"name\":\"", "\",\"image\":\"i\"}")) + "]}}";
      return Exchange{{Post(kLimitRanges, LimitRange(amounts))}, Post(kPods, std::move(pod))};
    };
    shapes.push_back({std::string("pod: containers under a limit range: ") + list, make, 0});
  }
}

}  // namespace

void AddKindShapes(std::vector<Shape>& shapes) {
  const KindShape kinds[] = {
      {"ingress: rules", "/apis/networking.k8s.io/v1/namespaces/default/ingresses", R"("spec":{"rules":[)",
       Around(R"({"host":"h)", R"(.example.com"})"), "]}"},
      {"ingress: paths", "/apis/networking.k8s.io/v1/namespaces/default/ingresses",
       R"("spec":{"rules":[{"host":"a.b","http":{"paths":[)",
       Around(R"({"path":"/)",
              R"(","pathType":"Exact","backend":{"service":{"name":"s","port":{"number":1}}}})"),
       "]}}]}"},
      {"ingress: hosts of TLS", "/apis/networking.k8s.io/v1/namespaces/default/ingresses",
       R"("spec":{"defaultBackend":{"service":{"name":"s","port":{"number":1}}},"tls":[{"hosts":[)",
       RepeatedAround("\"h", ".example.com\""), "]}]}"},
      {"network policy: rules", "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies",
       R"("spec":{"podSelector":{},"ingress":[)", Same(R"({"ports":[{"port":1}]})"), "]}"},
      {"network policy: exceptions", "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies",
       R"("spec":{"podSelector":{},"ingress":[{"from":[{"ipBlock":{"cidr":"10.0.0.0/8","except":[)", Cidr,
       "]}}]}]}"},
      {"role: rules", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles", R"("rules":[)",
       Same(R"({"apiGroups":[""],"resources":["r"],"verbs":["get"]})"), "]"},
      {"role: resource names", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles",
       R"("rules":[{"apiGroups":[""],"verbs":["get"],"resources":["r"],"resourceNames":[)",
       RepeatedAround("\"", "\""), "]}]"},
      {"role binding: subjects", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings",
       R"("roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"r"},"subjects":[)",
       RepeatedAround(R"({"kind":"User","apiGroup":"rbac.authorization.k8s.io","name":")", "\"}"), "]"},
      {"endpoint slice: endpoints", "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
       R"("addressType":"IPv4","endpoints":[)", Same(R"({"addresses":["10.0.0.1"]})"), "]"},
      {"endpoint slice: ports", "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
       R"("addressType":"IPv4","endpoints":[],"ports":[)", RepeatedAround(R"({"name":"p)", R"(","port":1})"),
       "]"},
      {"endpoints: addresses", "/api/v1/namespaces/default/endpoints",
       R"("subsets":[{"ports":[{"port":1}],"addresses":[)", Address, "]}]"},
      {"endpoints: subsets", "/api/v1/namespaces/default/endpoints", R"("subsets":[)",
       Same(R"({"ports":[{"port":1}],"addresses":[{"ip":"10.0.0.1"}]})"), "]"},
      {"autoscaler: metrics", "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers",
       R"("spec":{"maxReplicas":3,"scaleTargetRef":{"kind":"Deployment","name":"d"},"metrics":[)",
       Same(
           R"({"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":1}}})"),
       "]}"},
      {"quota: limits", "/api/v1/namespaces/default/resourcequotas", R"("spec":{"hard":{)",
       Around(R"("requests.a.b/)", R"(":"1")"), "}}"},
      {"quota: scopes", "/api/v1/namespaces/default/resourcequotas", R"("spec":{"scopes":[)",
       RepeatedAround("\"s", "\""), "]}"},
      {"quota: scope expressions", "/api/v1/namespaces/default/resourcequotas",
       R"("spec":{"scopeSelector":{"matchExpressions":[)",
       Same(R"({"scopeName":"PriorityClass","operator":"Exists"})"), "]}}"},
      {"storage class: parameters", "/apis/storage.k8s.io/v1/storageclasses",
       R"("provisioner":"p","parameters":{)", Around("\"", R"(":"v")"), "}"},
      {"storage class: topologies", "/apis/storage.k8s.io/v1/storageclasses",
       R"("provisioner":"p","allowedTopologies":[)",
       RepeatedAround(R"({"matchLabelExpressions":[{"key":"k","values":[")", "\"]}]}"), "]"},
      {"storage class: values of a topology", "/apis/storage.k8s.io/v1/storageclasses",
       R"("provisioner":"p","allowedTopologies":[{"matchLabelExpressions":[{"key":"k","values":[)",
       RepeatedAround("\"", "\""), "]}]}]"},
      {"volume: terms of its nodes", "/api/v1/persistentvolumes",
       R"("spec":{"capacity":{"storage":"1"},"accessModes":["ReadWriteOnce"],"hostPath":{"path":"/a"},)"
       R"("nodeAffinity":{"required":{"nodeSelectorTerms":[)",
       Same(R"({"matchExpressions":[{"key":"k","operator":"Exists"}]})"), "]}}}"},
      {"volume: access modes", "/api/v1/persistentvolumes",
       R"("spec":{"capacity":{"storage":"1"},"hostPath":{"path":"/a"},"accessModes":[)",
       RepeatedAround("\"m", "\""), "]}"},
      {"claim: access modes", "/api/v1/namespaces/default/persistentvolumeclaims",
       R"("spec":{"resources":{"requests":{"storage":"1"}},"accessModes":[)", RepeatedAround("\"m", "\""),
       "]}"},
      {"CSI node: drivers", "/apis/storage.k8s.io/v1/csinodes", R"("spec":{"drivers":[)",
       RepeatedAround(R"({"nodeID":"n","name":"d)", "\"}"), "]}"},
      {"CSI node: topology keys", "/apis/storage.k8s.io/v1/csinodes",
       R"("spec":{"drivers":[{"nodeID":"n","name":"d","topologyKeys":[)", RepeatedAround("\"", "\""), "]}]}"},
      {"signing request: usages", "/apis/certificates.k8s.io/v1/certificatesigningrequests",
       R"("spec":{"request":"","signerName":"a.b/c","usages":[)", RepeatedAround("\"u", "\""), "]}"},
      {"webhooks", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", R"("webhooks":[)",
       RepeatedAround(
           R"({"sideEffects":"None","admissionReviewVersions":["v1"],"clientConfig":{"url":"https://a.b"},"name":")",
           ".a.b\"}"),
       "]"},
      {"webhook rules", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
       R"("webhooks":[{"sideEffects":"None","admissionReviewVersions":["v1"],"clientConfig":{"url":"https://a.b"},)"
       R"("name":"a.b.c","rules":[)",
       Same(R"({"apiGroups":["*"],"apiVersions":["*"],"operations":["*"],"resources":["*","*/*"]})"), "]}]"},
      {"flow schema: rules", "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas",
       R"("spec":{"priorityLevelConfiguration":{"name":"p"},"rules":[)",
       Same(
           R"({"subjects":[{"kind":"User","user":{"name":"u"}}],"nonResourceRules":[{"verbs":["*"],"nonResourceURLs":["*"]}]})"),
       "]}"},
      {"resource slice: devices", "/apis/resource.k8s.io/v1/resourceslices",
       R"("spec":{"driver":"d","nodeName":"n","pool":{"name":"p","generation":1,"resourceSliceCount":1},"devices":[)",
       RepeatedAround(R"({"name":"d)", "\"}"), "]}"},
      {"resource claim: requests", "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims",
       R"("spec":{"devices":{"requests":[)",
       RepeatedAround(R"({"exactly":{"deviceClassName":"c"},"name":"r)", "\"}"), "]}}"},
      {"service: ports", "/api/v1/namespaces/default/services", R"("spec":{"ports":[)",
       RepeatedAround(R"({"port":1,"name":"p)", "\"}"), "]}"},
      {"service: external addresses", "/api/v1/namespaces/default/services",
       R"("spec":{"ports":[{"port":1}],"externalIPs":[)", Same("\"10.0.0.1\""), "]}"},
      {"service: source ranges", "/api/v1/namespaces/default/services",
       R"("spec":{"type":"LoadBalancer","ports":[{"port":1}],"loadBalancerSourceRanges":[)", Cidr, "]}"},
      {"service account: secrets", "/api/v1/namespaces/default/serviceaccounts", R"("secrets":[)",
       RepeatedAround(R"({"name":")", "\"}"), "]"},
      {"runtime class: tolerations", "/apis/node.k8s.io/v1/runtimeclasses",
       R"("handler":"h","scheduling":{"tolerations":[)",
       RepeatedAround(R"({"operator":"Exists","key":")", "\"}"), "]}"},
  };
  for (const KindShape& shape : kinds) {
    shapes.push_back(Posted(shape.name, 0, shape.path, [shape](std::size_t bytes) {
      return std::string(R"({"metadata":{"name":"x"},)") + shape.before + Repeat(bytes, shape.item) +
             shape.after + "}";
    }));
  }
  AddWorkloads(shapes);
  AddLimitRanges(shapes);
}

}  // namespace terrarium::hostile
