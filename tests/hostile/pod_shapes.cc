// Pods with too many items of one kind.

#include <string>

#include "tests/hostile/internal/text.h"

namespace terrarium::hostile {
namespace {

struct PodShape {
  const char* name;
  int code;
  const char* before;  // of the repeated text, in the spec or in its first container
  Item item;
  const char* after;
};

std::string Named(std::uint32_t number, const char* more) {
  return "{\"name\":\"" + Shuffled(number) + "\"" + more + "}";
}

Item NamedWith(const char* more) {
  return [more](std::uint32_t i) { return Named(i, more); };
}
// Each name three times.
Item RepeatedWith(const char* more) {
  return [more](std::uint32_t i) { return Named(i / 3, more); };
}
Item Same(const char* text) {
  return [text](std::uint32_t) { return text; };
}

std::string Port(std::uint32_t i) {
  const std::string number = std::to_string(i % 65000 / 2 + 1);
  return "{\"containerPort\":" + number + ",\"hostPort\":" + number + ",\"protocol\":\"TCP\"}";
}

}  // namespace

void AddPodShapes(std::vector<Shape>& shapes) {
  const PodShape in_spec[] = {
      {"init containers", 0, ",\"initContainers\":[", NamedWith(",\"image\":\"i\""), "]"},
      {"init containers of one name", 422, ",\"initContainers\":[", RepeatedWith(",\"image\":\"i\""), "]"},
      {"empty init containers", 422, ",\"initContainers\":[", Same("{}"), "]"},
      {"volumes", 0, ",\"volumes\":[", NamedWith(",\"emptyDir\":{}"), "]"},
      {"volumes of one name", 422, ",\"volumes\":[", RepeatedWith(",\"emptyDir\":{}"), "]"},
      {"volumes of two sources", 422, ",\"volumes\":[",
       NamedWith(R"(,"emptyDir":{},"hostPath":{"path":"/"})"), "]"},
      {"sources of a projected volume", 0, R"(,"volumes":[{"name":"v","projected":{"sources":[)",
       Same(R"({"secret":{"name":"s"}})"), "]}}]"},
      {"items of a volume", 0, R"(,"volumes":[{"name":"v","configMap":{"name":"c","items":[)",
       Same(R"({"key":"k","path":"p"})"), "]}}]"},
      {"tolerations", 0, ",\"tolerations\":[",
       [](auto i) { return R"({"operator":"Exists","key":")" + Shuffled(i) + "\"}"; }, "]"},
      {"tolerations of one key", 0, ",\"tolerations\":[", Same(R"({"operator":"Exists","key":"k"})"), "]"},
      {"host aliases", 0, ",\"hostAliases\":[", Same(R"({"ip":"1.2.3.4","hostnames":["h"]})"), "]"},
      {"pull secrets", 0, ",\"imagePullSecrets\":[", RepeatedWith(""), "]"},
      {"readiness gates", 0, ",\"readinessGates\":[",
       [](auto i) { return R"({"conditionType":"a/)" + Shuffled(i) + "\"}"; }, "]"},
      {"scheduling gates", 0, ",\"schedulingGates\":[", RepeatedWith(""), "]"},
      {"spread constraints", 0, ",\"topologySpreadConstraints\":[",
       [](auto i) {
         return R"({"maxSkew":1,"whenUnsatisfiable":"DoNotSchedule","topologyKey":")" + Shuffled(i / 2) +
                R"(","labelSelector":{}})";
       },
       "]"},
      {"node selector", 0, ",\"nodeSelector\":{", [](auto i) { return Member(i, "\"\""); }, "}"},
      {"node affinity terms", 0,
       R"(,"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[)",
       Same(R"({"matchExpressions":[{"key":"k","operator":"Exists"}]})"), "]}}}"},
      {"pod affinity terms", 0,
       R"(,"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[)",
       Same(R"({"topologyKey":"k","labelSelector":{"matchLabels":{"a":"b"}}})"), "]}}"},
      {"sysctls", 0, R"(,"securityContext":{"sysctls":[)",
       [](auto i) { return Named(i, ",\"value\":\"1\""); }, "]}"},
      {"supplemental groups", 0, R"(,"securityContext":{"supplementalGroups":[)", Same("7"), "]}"},
      {"resource claims", 0, ",\"resourceClaims\":[", RepeatedWith(R"(,"resourceClaimName":"c")"), "]"},
      {"DNS servers", 0, R"(,"dnsConfig":{"nameservers":[)", Same("\"1.2.3.4\""), "]}"},
      {"overhead", 0, ",\"overhead\":{", [](auto i) { return Member(i, "\"1\""); }, "}"},
  };
  const PodShape in_container[] = {
      {"environment", 0, ",\"env\":[", NamedWith(",\"value\":\"v\""), "]"},
      {"environment of one name", 0, ",\"env\":[", RepeatedWith(",\"value\":\"v\""), "]"},
      {"empty environment", 422, ",\"env\":[", Same("{}"), "]"},
      {"environment from maps", 0, ",\"envFrom\":[", Same(R"({"configMapRef":{"name":"c"}})"), "]"},
      {"ports", 0, ",\"ports\":[", Port, "]"},
      {"empty ports", 422, ",\"ports\":[", Same("{}"), "]"},
      {"volume mounts", 422, ",\"volumeMounts\":[", NamedWith(",\"mountPath\":\"/m\""), "]"},
      {"devices", 422, ",\"volumeDevices\":[", NamedWith(",\"devicePath\":\"/m\""), "]"},
      {"arguments", 0, ",\"args\":[", Same("\"a\""), "]"},
      {"capabilities", 0, R"(,"securityContext":{"capabilities":{"add":[)", Same("\"A\""), "]}}"},
      {"limits", 0, R"(,"resources":{"limits":{)", [](auto i) { return "\"a.b/" + Shuffled(i) + "\":\"1\""; },
       "}}"},
      {"invalid limits", 422, R"(,"resources":{"limits":{)", [](auto i) { return Member(i, "\"1\""); }, "}}"},
      {"requests over limits", 422, R"(,"resources":{"requests":{)",
       [](auto i) { return "\"a.b/" + Shuffled(i) + "\":\"1\""; }, "}}"},
      {"resize policies", 0, ",\"resizePolicy\":[",
       Same(R"({"resourceName":"cpu","restartPolicy":"NotRequired"})"), "]"},
      {"probe headers", 0, R"(,"livenessProbe":{"httpGet":{"port":1,"httpHeaders":[)",
       NamedWith(",\"value\":\"v\""), "]}}"},
      {"restart rules", 0, R"(,"restartPolicy":"Never","restartPolicyRules":[)",
       Same(R"({"action":"Restart","exitCodes":{"operator":"In","values":[1]}})"), "]"},
  };
  auto repeat = [](const PodShape& shape, std::size_t bytes) {
    return shape.before + Repeat(bytes, shape.item) + shape.after;
  };
  for (const PodShape& shape : in_spec)
    shapes.push_back(Posted(std::string("pod: ") + shape.name, shape.code, kPods,
                            [shape, repeat](std::size_t bytes) { return Pod(repeat(shape, bytes), ""); }));
  for (const PodShape& shape : in_container)
    shapes.push_back(Posted(std::string("container: ") + shape.name, shape.code, kPods,
                            [shape, repeat](std::size_t bytes) { return Pod("", repeat(shape, bytes)); }));
  shapes.push_back(Posted("pod: containers", 0, kPods, [](std::size_t bytes) {
    return R"({"metadata":{"name":"x"},"spec":{"containers":[)" +
           Repeat(bytes, NamedWith(",\"image\":\"i\"")) + "]}}";
  }));
  shapes.push_back(Posted("pod: volumes that are mounted", 0, kPods, [](std::size_t bytes) {
    auto mount = [](std::uint32_t i) {
      return Named(i, (",\"mountPath\":\"/" + Shuffled(i) + "\"").c_str());
    };
    return Pod(",\"volumes\":[" + Repeat(bytes * 2 / 5, NamedWith(",\"emptyDir\":{}")) + "]",
               ",\"volumeMounts\":[" + Repeat(bytes * 3 / 5, mount) + "]");
  }));
  shapes.push_back(Posted("pod: containers of many ports", 0, kPods, [](std::size_t bytes) {
    const std::string ports = Repeat(2000, Port);
    return R"({"metadata":{"name":"x"},"spec":{"containers":[)" +
           Repeat(bytes,
                  [&](auto i) { return Named(i, (",\"image\":\"i\",\"ports\":[" + ports + "]").c_str()); }) +
           "]}}";
  }));
}

}  // namespace terrarium::hostile
