// Patches and updates of objects of the largest size that the server stores.

#include <algorithm>
#include <string>
#include <utility>

#include "tests/hostile/internal/text.h"

namespace terrarium::hostile {
namespace {

constexpr std::string_view kConfigMapX = "/api/v1/namespaces/default/configmaps/x";
constexpr std::string_view kDeploymentX = "/apis/apps/v1/namespaces/default/deployments/x";
constexpr std::string_view kJsonPatch = "json-patch";
constexpr std::string_view kMergePatch = "merge-patch";
constexpr std::string_view kStrategic = "strategic-merge-patch";
constexpr std::size_t kOperationsMax = 10'000;

std::size_t Stored(std::size_t bytes) { return std::min(bytes, kStoredBytesMax); }

std::string Data(std::size_t bytes) {
  return ",\"data\":{" + Repeat(bytes, [](auto i) { return Member(i, "\"\""); }) + "}";
}

apiserver::Request PostConfigMap(std::size_t bytes) {
  return Post(kConfigMaps, ConfigMap("", Data(Stored(bytes))));
}

std::string Arguments(std::size_t bytes) {
  return R"("containers":[{"name":"a","image":"i","args":[)" + Repeat(bytes, "\"a\"") + "]}]";
}

std::string Env(std::uint32_t i, std::string_view value) {
  return "{\"name\":\"" + Shuffled(i) + "\",\"value\":\"" + std::string(value) + "\"}";
}

std::string ContainerEnv(std::size_t bytes, std::string_view value) {
  auto env = [value](std::uint32_t i) { return Env(i, value); };
  return R"("containers":[{"name":"a","image":"i","env":[)" + Repeat(bytes, env) + "]}]";
}

apiserver::Request PostDeployment(const std::string& pod_spec) {
  return Post(kDeployments, Deployment("", "", pod_spec));
}

// As many operations as the body holds and the server accepts.
std::string Operations(std::size_t bytes, const Item& operation) {
  std::string out = "[";
  for (std::uint32_t i = 0; out.size() < bytes && i < kOperationsMax; ++i) {
    if (i > 0) out += ",";
    out += operation(i);
  }
  return out + "]";
}

Item SameOperation(std::string text) {
  return [text = std::move(text)](std::uint32_t) { return text; };
}

void AddJsonPatches(std::vector<Shape>& shapes) {
  struct JsonShape {
    const char* name;
    int code;
    Item operation;
  };
  const std::string args = "/spec/template/spec/containers/0/args";
  const JsonShape of_list[] = {
      {"items added at the front", 200,
       SameOperation(R"({"op":"add","path":")" + args + R"(/0","value":"b"})")},
      {"items removed at the front", 0, SameOperation(R"({"op":"remove","path":")" + args + "/0\"}")},
      {"items moved to the front", 200,
       SameOperation(R"({"op":"move","from":")" + args + R"(/-1","path":")" + args + "/0\"}")},
      {"copies of the list", 422,
       SameOperation(R"({"op":"copy","from":")" + args + R"(","path":")" + args + "/0\"}")},
      {"tests of the whole list", 422,
       SameOperation(R"({"op":"test","path":")" + args + R"(","value":["a","b"]})")},
      {"the list moved into itself", 422,
       SameOperation(R"({"op":"move","from":")" + args + R"(","path":")" + args + "/x\"}")},
  };
  for (const JsonShape& shape : of_list)
    shapes.push_back({std::string("json patch: ") + shape.name,
                      [shape](std::size_t bytes) {
                        return Exchange{{PostDeployment(Arguments(Stored(bytes) - 1000))},
                                        Patch(kDeploymentX, kJsonPatch, Operations(bytes, shape.operation))};
                      },
                      shape.code});
  const JsonShape of_map[] = {
      {"members added", 0,
       [](auto i) { return R"({"op":"add","path":"/data/a)" + Shuffled(i) + R"(","value":""})"; }},
      {"members removed", 0, [](auto i) { return R"({"op":"remove","path":"/data/)" + Shuffled(i) + "\"}"; }},
      {"members replaced", 200,
       [](auto i) { return R"({"op":"replace","path":"/data/)" + Shuffled(i) + R"(","value":""})"; }},
      {"unknown members of operations", 400,
       [](auto i) { return "{\"op\":\"test\"," + Member(i, "0") + "}"; }},
      {"the map doubled", 422, SameOperation(R"({"op":"copy","from":"/data","path":"/data/z"})")},
  };
  for (const JsonShape& shape : of_map)
    shapes.push_back({std::string("json patch: ") + shape.name,
                      [shape](std::size_t bytes) {
                        return Exchange{{PostConfigMap(bytes)},
                                        Patch(kConfigMapX, kJsonPatch, Operations(bytes, shape.operation))};
                      },
                      shape.code});
  shapes.push_back({"json patch: too many operations",
                    [](std::size_t bytes) {
                      return Exchange{{PostConfigMap(bytes)},
                                      Patch(kConfigMapX, kJsonPatch, "[" + Repeat(bytes, "{}") + "]")};
                    },
                    0});
  shapes.push_back(
      {"json patch: values put into each other",
       [](std::size_t bytes) {
         const std::size_t levels = std::min<std::size_t>(4000, bytes / 20);
         const std::string value = Repeat(levels * 5, "{\"a\":", "") + "0" + Repeat(levels, "}", "");
         std::string path = "/data";
         auto operation = [&](std::uint32_t) {
           std::string out = R"({"op":"add","path":")" + path + R"(","value":)" + value + "}";
           path += Repeat(levels * 2, "/a", "");
           return out;
         };
         return Exchange{{PostConfigMap(100)}, Patch(kConfigMapX, kJsonPatch, Operations(bytes, operation))};
       },
       422});
}

void AddMergePatches(std::vector<Shape>& shapes) {
  struct MapShape {
    const char* name;
    int code;
    Item member;
  };
  const MapShape maps[] = {
      {"members added", 0, [](auto i) { return "\"" + Shuffled(i) + "0\":\"\""; }},
      {"members replaced", 0, [](auto i) { return Member(i, "\"\""); }},
      {"members removed", 0, [](auto i) { return Member(i, "null"); }},
      {"members of an order", 0, [](auto i) { return "\"$setElementOrder/" + Shuffled(i) + "\":[]"; }},
      {"members deleted from lists", 0,
       [](auto i) { return "\"$deleteFromPrimitiveList/" + Shuffled(i) + "\":null"; }},
  };
  for (std::string_view type : {kMergePatch, kStrategic})
    for (const MapShape& shape : maps)
      shapes.push_back({std::string(type) + ": " + shape.name,
                        [shape, type](std::size_t bytes) {
                          return Exchange{
                              {PostConfigMap(bytes)},
                              Patch(kConfigMapX, type, "{\"data\":{" + Repeat(bytes, shape.member) + "}}")};
                        },
                        shape.code});
  shapes.push_back({"merge-patch: unknown members",
                    [](std::size_t bytes) {
                      return Exchange{{PostConfigMap(100)},
                                      Patch(kConfigMapX, kMergePatch, "{" + Repeat(bytes, [](auto i) {
                                                                        return Member(i, "0");
                                                                      }) + "}")};
                    },
                    422});
}

void AddStrategicPatches(std::vector<Shape>& shapes) {
  struct ListShape {
    const char* name;
    int code;
    Item item;  // of a container's environment
  };
  const ListShape lists[] = {
      {"items changed", 0, [](auto i) { return Env(i, "w"); }},
      {"items added", 0, [](auto i) { return Env(i + 1'000'000, "w"); }},
      {"items deleted", 200, [](auto i) { return R"({"$patch":"delete","name":")" + Shuffled(i) + "\"}"; }},
      {"one item again and again", 200, SameOperation(Env(0, "w"))},
      {"items without a key", 500, SameOperation("{\"value\":\"v\"}")},
      {"items replaced", 0, [](auto i) { return i == 0 ? R"({"$patch":"replace"})" : Env(i, "w"); }},
  };
  auto patch = [](const std::string& containers) {
    return Patch(kDeploymentX, kStrategic,
                 R"({"spec":{"template":{"spec":{"containers":[)" + containers + "]}}}}");
  };
  for (const ListShape& shape : lists)
    shapes.push_back({std::string("strategic-merge-patch: ") + shape.name,
                      [shape, patch](std::size_t bytes) {
                        return Exchange{
                            {PostDeployment(ContainerEnv(Stored(bytes) - 1000, "v"))},
                            patch("{\"name\":\"a\",\"env\":[" + Repeat(bytes, shape.item) + "]}")};
                      },
                      shape.code});
  shapes.push_back({"strategic-merge-patch: items in an order",
                    [patch](std::size_t bytes) {
                      auto key = [](std::uint32_t i) { return "{\"name\":\"" + Shuffled(i) + "\"}"; };
                      return Exchange{
                          {PostDeployment(ContainerEnv(Stored(bytes) - 1000, "v"))},
                          patch("{\"name\":\"a\",\"$setElementOrder/env\":[" + Repeat(bytes, key) + "]}")};
                    },
                    200});
  shapes.push_back({"strategic-merge-patch: one container again and again",
                    [patch](std::size_t bytes) {
                      auto container = [](std::uint32_t i) {
                        return "{\"name\":\"a\",\"env\":[" + Env(i, "w") + "]}";
                      };
                      return Exchange{{PostDeployment(ContainerEnv(Stored(bytes) - 1000, "v"))},
                                      patch(Repeat(bytes, container))};
                    },
                    0});
  shapes.push_back({"strategic-merge-patch: containers",
                    [patch](std::size_t bytes) {
                      auto container = [](std::uint32_t i) {
                        return "{\"name\":\"" + Shuffled(i) + "\",\"image\":\"i\"}";
                      };
                      return Exchange{
                          {PostDeployment("\"containers\":[" + Repeat(Stored(bytes) / 12, container) + "]")},
                          patch(Repeat(bytes / 12, container))};
                    },
                    200});
  shapes.push_back(
      {"strategic-merge-patch: finalizers",
       [](std::size_t bytes) {
         std::string finalizers =
             "[" + Repeat(Stored(bytes) / 2, [](auto i) { return "\"a/" + Shuffled(i) + "\""; }) + "]";
         return Exchange{{Post(kConfigMaps, ConfigMap(",\"finalizers\":" + finalizers, ""))},
                         Patch(kConfigMapX, kStrategic,
                               "{\"metadata\":{\"finalizers\":[" + Repeat(bytes, "\"a/b\"") + "]}}")};
       },
       200});
}

void AddUpdates(std::vector<Shape>& shapes) {
  shapes.push_back({"update: a map",
                    [](std::size_t bytes) {
                      auto member = [](std::uint32_t i) { return Member(i + 7, "\"v\""); };
                      std::string body = ConfigMap("", ",\"data\":{" + Repeat(Stored(bytes), member) + "}");
                      return Exchange{{PostConfigMap(bytes)}, Put(kConfigMapX, std::move(body))};
                    },
                    200});
  shapes.push_back({"update: a dry run",
                    [](std::size_t bytes) {
                      Exchange exchange{{PostConfigMap(bytes)},
                                        Put(kConfigMapX, ConfigMap("", Data(Stored(bytes) - 100)))};
                      exchange.request.query.push_back({"dryRun", "All"});
                      return exchange;
                    },
                    200});
  shapes.push_back({"update: a pod's environment",
                    [](std::size_t bytes) {
                      auto env = [](std::uint32_t i) { return Env(i, "v"); };
                      auto other = [](std::uint32_t i) { return Env(i, "w"); };
                      return Exchange{
                          {Post(kPods, Pod("", ",\"env\":[" + Repeat(Stored(bytes) - 1000, env) + "]"))},
                          Put(std::string(kPods) + "/x", Pod("", ",\"env\":[" + Repeat(bytes, other) + "]"))};
                    },
                    422});
  shapes.push_back({"update: a pod's tolerations",
                    [](std::size_t bytes) {
                      auto toleration = [](std::uint32_t i) {
                        return R"({"operator":"Exists","key":")" + Shuffled(i) + "\"}";
                      };
                      auto other = [](std::uint32_t i) {
                        return R"({"operator":"Exists","key":")" + Shuffled(i + 1) + "\"}";
                      };
                      std::string stored = Repeat(Stored(bytes) - 1000, toleration);
                      return Exchange{{Post(kPods, Pod(",\"tolerations\":[" + stored + "]", ""))},
                                      Put(std::string(kPods) + "/x",
                                          Pod(",\"tolerations\":[" + Repeat(bytes, other) + "]", ""))};
                    },
                    422});
  shapes.push_back(
      {"update: a pod's status",
       [](std::size_t bytes) {
         auto status = [](std::uint32_t i) {
           return "{\"name\":\"" + Shuffled(i) +
                  R"(","image":"i","imageID":"","ready":true,"restartCount":0})";
         };
         auto condition = [](std::uint32_t i) {
           return "{\"type\":\"" + Shuffled(i) + R"(","status":"True"})";
         };
         std::string body = R"({"metadata":{"name":"x"},"status":{"containerStatuses":[)" +
                            Repeat(bytes / 2, status) + R"(],"conditions":[)" + Repeat(bytes / 2, condition) +
                            "]}}";
         return Exchange{{Post(kPods, Pod("", ""))}, Put(std::string(kPods) + "/x/status", std::move(body))};
       },
       0});
  shapes.push_back(
      {"update: finalizers of an object that is being deleted",
       [](std::size_t bytes) {
         auto finalizers = [](std::size_t size, std::uint32_t from) {
           return ",\"finalizers\":[" +
                  Repeat(size, [from](auto i) { return "\"a/" + Shuffled(i + from) + "\""; }) + "]";
         };
         apiserver::Request remove = Post(kConfigMapX, "");
         remove.method = "DELETE";
         return Exchange{{Post(kConfigMaps, ConfigMap(finalizers(Stored(bytes) - 1000, 0), "")), remove},
                         Put(kConfigMapX, ConfigMap(finalizers(bytes, 1'000'000), ""))};
       },
       422});
}

}  // namespace

void AddPatchShapes(std::vector<Shape>& shapes) {
  AddJsonPatches(shapes);
  AddMergePatches(shapes);
  AddStrategicPatches(shapes);
  AddUpdates(shapes);
}

}  // namespace terrarium::hostile
