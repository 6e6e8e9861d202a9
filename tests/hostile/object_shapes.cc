// JSON bodies of the simpler kinds, and selectors in queries.

#include <algorithm>
#include <string>
#include <utility>

#include "tests/hostile/internal/text.h"

namespace terrarium::hostile {
namespace {

std::string Quoted(std::uint32_t number) { return "\"" + Shuffled(number) + "\""; }

std::string Metadata(std::string_view field, std::string text) {
  return ConfigMap(",\"" + std::string(field) + "\":" + std::move(text), "");
}

// `levels` nested lists or objects around `inner`.
std::string Nested(std::size_t levels, std::string_view open, std::string_view inner,
                   std::string_view close) {
  return Repeat(levels * open.size(), open, "") + std::string(inner) +
         Repeat(levels * close.size(), close, "");
}

std::string Revision(const std::string& data) {
  return R"({"apiVersion":"apps/v1","kind":"ControllerRevision","metadata":{"name":"x"},"revision":1,"data":)" +
         data + "}";
}

void AddMembers(std::vector<Shape>& shapes) {
  shapes.push_back(Posted("unknown members", 400, kConfigMaps, [](std::size_t bytes) {
    return ConfigMap("", "," + Repeat(bytes, [](auto i) { return Member(i, "0"); }));
  }));
  shapes.push_back({"unknown members that are ignored",
                    [](std::size_t bytes) {
                      std::string body =
                          ConfigMap("", "," + Repeat(bytes, [](auto i) { return Member(i, "0"); }));
                      return Exchange{{}, Post(kConfigMaps, std::move(body), "Ignore")};
                    },
                    201});
  shapes.push_back({"unknown members that are warned about",
                    [](std::size_t bytes) {
                      std::string body =
                          ConfigMap("", "," + Repeat(bytes, [](auto i) { return Member(i, "0"); }));
                      return Exchange{{}, Post(kConfigMaps, std::move(body), "Warn")};
                    },
                    201});
  shapes.push_back(Posted("keys of a map", 0, kConfigMaps, [](std::size_t bytes) {
    return ConfigMap("", ",\"data\":{" + Repeat(bytes, [](auto i) { return Member(i, "\"\""); }) + "}");
  }));
  shapes.push_back(Posted("keys of a map, descending", 0, kConfigMaps, [](std::size_t bytes) {
    auto key = [](std::uint32_t i) { return "\"" + std::to_string(999'999'999 - i) + "\":\"\""; };
    return ConfigMap("", ",\"data\":{" + Repeat(bytes, key) + "}");
  }));
  shapes.push_back(Posted("keys of a map that are invalid", 422, kConfigMaps, [](std::size_t bytes) {
    auto key = [](std::uint32_t i) { return "\"/" + Shuffled(i) + "\":\"\""; };
    return ConfigMap("", ",\"data\":{" + Repeat(bytes, key) + "}");
  }));
  shapes.push_back(Posted("one key again and again", 400, kConfigMaps, [](std::size_t bytes) {
    return ConfigMap("", ",\"data\":{" + Repeat(bytes, "\"k\":\"\"") + "}");
  }));
  shapes.push_back(Posted("keys twice", 400, kConfigMaps, [](std::size_t bytes) {
    return ConfigMap("", ",\"data\":{" + Repeat(bytes, [](auto i) { return Member(i / 2, "\"\""); }) + "}");
  }));
  shapes.push_back(
      Posted("one repeated key far below repeated keys", 400, kConfigMaps, [](std::size_t bytes) {
        std::string twice = "{" + Repeat(bytes * 9 / 10, R"("p":{"a":0,"a":0})") + "}";
        return ConfigMap("",
                         ",\"u\":" + Nested(std::min<std::size_t>(9000, bytes / 70), "{\"u\":", twice, "}"));
      }));
  shapes.push_back(Posted("a Secret's text", 0, "/api/v1/namespaces/default/secrets", [](std::size_t bytes) {
    return R"({"metadata":{"name":"x"},"stringData":{)" +
           Repeat(bytes, [](auto i) { return Member(i, "\"v\""); }) + "}}";
  }));
}

void AddMetadata(std::vector<Shape>& shapes) {
  shapes.push_back(Posted("labels", 0, kConfigMaps, [](std::size_t bytes) {
    return Metadata("labels", "{" + Repeat(bytes, [](auto i) { return Member(i, "\"\""); }) + "}");
  }));
  shapes.push_back(Posted("invalid labels", 422, kConfigMaps, [](std::size_t bytes) {
    return Metadata("labels",
                    "{" + Repeat(bytes, [](auto i) { return "\"-" + Shuffled(i) + "\":\"-\""; }) + "}");
  }));
  shapes.push_back(Posted("annotations", 422, kConfigMaps, [](std::size_t bytes) {
    return Metadata("annotations",
                    "{" + Repeat(bytes, [](auto i) { return "\"-" + Shuffled(i) + "\":\"-\""; }) + "}");
  }));
  shapes.push_back(Posted("finalizers", 0, kConfigMaps, [](std::size_t bytes) {
    return Metadata("finalizers",
                    "[" + Repeat(bytes, [](auto i) { return "\"a/" + Shuffled(i) + "\""; }) + "]");
  }));
  shapes.push_back(Posted("invalid finalizers", 422, kConfigMaps, [](std::size_t bytes) {
    return Metadata("finalizers", "[" + Repeat(bytes, Quoted) + ",\"orphan\",\"foregroundDeletion\"]");
  }));
  shapes.push_back(Posted("owners that all control", 422, kConfigMaps, [](std::size_t bytes) {
    auto owner = [](std::uint32_t i) {
      return R"({"apiVersion":"v1","kind":"Pod","name":")" + Shuffled(i) +
             R"(","uid":"u","controller":true})";
    };
    return Metadata("ownerReferences", "[" + Repeat(bytes, owner) + "]");
  }));
  shapes.push_back(Posted("empty owners", 422, kConfigMaps, [](std::size_t bytes) {
    return Metadata("ownerReferences", "[" + Repeat(bytes, "{}") + "]");
  }));
  shapes.push_back(Posted("a long name", 422, kConfigMaps, [](std::size_t bytes) {
    return R"({"metadata":{"name":")" + std::string(bytes, 'A') + "\"}}";
  }));
  shapes.push_back(Posted("a name of many dots", 422, kConfigMaps, [](std::size_t bytes) {
    return R"({"metadata":{"name":"a)" + std::string(bytes, '.') + "\"}}";
  }));
}

void AddNestingAndTexts(std::vector<Shape>& shapes) {
  const std::string_view revisions = "/apis/apps/v1/namespaces/default/controllerrevisions";
  shapes.push_back(Posted("nesting", 0, revisions, [](std::size_t bytes) {
    const std::size_t levels = std::min<std::size_t>(9990, bytes / 20);
    return Revision(Nested(levels, "{\"a\":", "[" + Repeat(bytes - levels * 6, "[0]") + "]", "}"));
  }));
  shapes.push_back(Posted("nesting that is too deep", 400, revisions, [](std::size_t bytes) {
    return Revision(Nested(std::max<std::size_t>(bytes / 2, 10'001), "[", "", "]"));
  }));
  shapes.push_back(Posted("a text of escapes", 0, kConfigMaps, [](std::size_t bytes) {
    return ConfigMap("", R"(,"data":{"k":")" + Repeat(bytes, "\\u00e9\\n", "") + "\"}");
  }));
  shapes.push_back(Posted("text that is not UTF-8", 400, kConfigMaps, [](std::size_t bytes) {
    return ConfigMap("", R"(,"data":{"k":")" + std::string(bytes, '\xff') + "\"}");
  }));
  shapes.push_back(Posted("binary data", 0, kConfigMaps, [](std::size_t bytes) {
    return ConfigMap("", R"(,"binaryData":{"k":")" + std::string(bytes / 4 * 4, 'A') + "\"}");
  }));
  shapes.push_back(Posted(
      "a number of many digits", 400, "/apis/apps/v1/namespaces/default/deployments",
      [](std::size_t bytes) { return Deployment("", ",\"replicas\":" + std::string(bytes, '7'), ""); }));
  shapes.push_back(Posted("a quantity of many digits", 0, kPods, [](std::size_t bytes) {
    return Pod("", R"(,"resources":{"limits":{"cpu":")" + std::string(bytes, '7') + "\"}}");
  }));
  shapes.push_back(Posted("a fraction of many digits", 0, kPods, [](std::size_t bytes) {
    return Pod("", R"(,"resources":{"limits":{"cpu":"0.)" + std::string(bytes, '7') + "\"}}");
  }));
  shapes.push_back(Posted("an error at the end", 400, kConfigMaps, [](std::size_t bytes) {
    return ConfigMap("", ",\"data\":{" + Repeat(bytes, [](auto i) { return Member(i, "\"\""); }) + ",}");
  }));
}

void AddKinds(std::vector<Shape>& shapes) {
  shapes.push_back(
      Posted("ports of a Service", 0, "/api/v1/namespaces/default/services", [](std::size_t bytes) {
        auto port = [](std::uint32_t i) {
          return "{\"name\":\"" + Shuffled(i) + "\",\"port\":" + std::to_string(i % 65535 + 1) + "}";
        };
        return R"({"metadata":{"name":"x"},"spec":{"selector":{"a":"b"},"ports":[)" + Repeat(bytes, port) +
               "]}}";
      }));
  shapes.push_back(
      Posted("a quota's resources", 0, "/api/v1/namespaces/default/resourcequotas", [](std::size_t bytes) {
        auto hard = [](std::uint32_t i) { return "\"count/" + Shuffled(i) + "\":\"1\""; };
        return R"({"metadata":{"name":"x"},"spec":{"hard":{)" + Repeat(bytes, hard) + "}}}";
      }));
  shapes.push_back(Posted("taints of a Node", 0, "/api/v1/nodes", [](std::size_t bytes) {
    auto taint = [](std::uint32_t i) {
      return "{\"key\":\"" + Shuffled(i / 2) + R"(","effect":"NoSchedule"})";
    };
    return R"({"metadata":{"name":"x"},"spec":{"taints":[)" + Repeat(bytes, taint) + "]}}";
  }));
  shapes.push_back(Posted("selector labels", 0, kDeployments, [](std::size_t bytes) {
    std::string labels = "{" + Repeat(bytes / 2, [](auto i) { return Member(i, "\"v\""); }) + "}";
    return R"({"metadata":{"name":"x"},"spec":{"selector":{"matchLabels":)" + labels +
           R"(},"template":{"metadata":{"labels":)" + labels +
           R"(},"spec":{"containers":[{"name":"a","image":"i"}]}}}})";
  }));
  shapes.push_back(Posted("selector values", 0, kDeployments, [](std::size_t bytes) {
    return R"({"metadata":{"name":"x"},"spec":{"selector":{"matchExpressions":[{"key":"a","operator":"In","values":[)" +
           Repeat(bytes, Quoted) +
           R"(,"b"]}]},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"a","image":"i"}]}}}})";
  }));
  shapes.push_back(Posted("selector expressions", 422, kDeployments, [](std::size_t bytes) {
    auto expression = [](std::uint32_t i) {
      return "{\"key\":\"" + Shuffled(i) + R"(","operator":"Exist"})";
    };
    return R"({"metadata":{"name":"x"},"spec":{"selector":{"matchExpressions":[)" +
           Repeat(bytes, expression) +
           R"(]},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"a","image":"i"}]}}}})";
  }));
  shapes.push_back(Posted(
      "claims of a StatefulSet", 0, "/apis/apps/v1/namespaces/default/statefulsets", [](std::size_t bytes) {
        auto claim = [](std::uint32_t i) {
          return "{\"metadata\":{\"name\":\"" + Shuffled(i) +
                 R"("},"spec":{"accessModes":["ReadWriteOnce"]}})";
        };
        return R"({"metadata":{"name":"x"},"spec":{"serviceName":"s","selector":{"matchLabels":{"a":"b"}},)"
               R"("template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"a","image":"i"}]}},)"
               R"("volumeClaimTemplates":[)" +
               Repeat(bytes, claim) + "]}}";
      }));
  shapes.push_back(
      Posted("failure rules of a Job", 422, "/apis/batch/v1/namespaces/default/jobs", [](std::size_t bytes) {
        return R"({"metadata":{"name":"x"},"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[)"
               R"({"name":"a","image":"i"}]}},"podFailurePolicy":{"rules":[{"action":"FailJob","onExitCodes":)"
               R"({"operator":"In","values":[)" +
               Repeat(bytes / 2, "7") + "]}}," + Repeat(bytes / 2, R"({"action":"Fail"})") + "]}}}";
      }));
}

void AddQueries(std::vector<Shape>& shapes) {
  auto list = [](std::string parameter, std::string text) {
    apiserver::Request request;
    request.method = "GET";
    request.path = kPods;
    request.query = {{std::move(parameter), std::move(text)}};
    return Exchange{{Post(kPods, Pod("", ""))}, request};
  };
  shapes.push_back({"terms of a label selector",
                    [list](std::size_t bytes) {
                      return list("labelSelector", Repeat(bytes, [](auto i) { return "!" + Shuffled(i); }));
                    },
                    200});
  shapes.push_back(
      {"values of a label selector",
       [list](std::size_t bytes) { return list("labelSelector", "a in (" + Repeat(bytes, Shuffled) + ")"); },
       200});
  shapes.push_back({"terms of a field selector",
                    [list](std::size_t bytes) {
                      return list("fieldSelector",
                                  Repeat(bytes, [](auto i) { return "metadata.name!=" + Shuffled(i); }));
                    },
                    200});
  shapes.push_back({"delete options",
                    [](std::size_t bytes) {
                      apiserver::Request request =
                          Post(std::string(kPods) + "/x",
                               "{" + Repeat(bytes, [](auto i) { return Member(i, "0"); }) + "}");
                      request.method = "DELETE";
                      return Exchange{{Post(kPods, Pod("", ""))}, request};
                    },
                    200});
}

}  // namespace

void AddObjectShapes(std::vector<Shape>& shapes) {
  AddMembers(shapes);
  AddMetadata(shapes);
  AddNestingAndTexts(shapes);
  AddKinds(shapes);
  AddQueries(shapes);
}

}  // namespace terrarium::hostile
