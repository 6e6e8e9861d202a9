// Applied configurations, and owners of fields that a client made up.

#include <algorithm>
#include <string>
#include <utility>

#include "tests/hostile/internal/text.h"

namespace terrarium::hostile {
namespace {

constexpr std::string_view kConfigMapX = "/api/v1/namespaces/default/configmaps/x";
constexpr std::string_view kDeploymentX = "/apis/apps/v1/namespaces/default/deployments/x";

// Half of the largest object, whose owners are about as long as its text.
std::size_t Stored(std::size_t bytes) { return std::min(bytes, kStoredBytesMax / 2); }

apiserver::Request Apply(std::string_view path, std::string_view manager, std::string body) {
  apiserver::Request request = Patch(path, "", std::move(body));
  request.content_type = "application/apply-patch+yaml";
  request.query.emplace_back("fieldManager", manager);
  request.query.emplace_back("force", "true");
  return request;
}

std::string Data(std::size_t bytes, std::string_view value) {
  return ",\"data\":{" + Repeat(bytes, [value](auto i) { return Member(i, value); }) + "}";
}

std::string WithData(std::size_t bytes, std::string_view value) {
  return ConfigMap("", Data(Stored(bytes), value));
}

std::string WithEnv(std::size_t bytes, std::uint32_t step) {
  auto env = [step](std::uint32_t i) { return "{\"name\":\"" + Shuffled(i * step) + "\",\"value\":\"\"}"; };
  return Deployment(
      "", "", R"("containers":[{"name":"a","image":"i","env":[)" + Repeat(Stored(bytes) / 2, env) + "]}]");
}

// One entry of managedFields for each number.
std::string Entries(std::size_t bytes, const char* operation) {
  return ",\"managedFields\":[" +
         Repeat(bytes,
                [operation](std::uint32_t i) {
                  return "{\"manager\":\"" + Shuffled(i) + "\",\"operation\":\"" + operation +
                         R"(","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":)" +
                         R"({"f:data":{"f:a":{}}}})";
                }) +
         "]";
}

std::string OneEntry(const std::string& fields) {
  return R"(,"managedFields":[{"manager":"me","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1",)"
         R"("fieldsV1":)" +
         fields + "}]";
}

void AddApplied(std::vector<Shape>& shapes) {
  shapes.push_back({"apply: a large map",
                    [](std::size_t bytes) {
                      return Exchange{{}, Apply(kConfigMapX, "me", WithData(bytes, "\"\""))};
                    },
                    201});
  shapes.push_back({"apply: a large map taken over",
                    [](std::size_t bytes) {
                      return Exchange{{Apply(kConfigMapX, "other", WithData(bytes, "\"a\""))},
                                      Apply(kConfigMapX, "me", WithData(bytes, "\"b\""))};
                    },
                    200});
  shapes.push_back({"apply: conflicts about every member",
                    [](std::size_t bytes) {
                      Exchange exchange{{Apply(kConfigMapX, "other", WithData(bytes, "\"a\""))},
                                        Apply(kConfigMapX, "me", WithData(bytes, "\"b\""))};
                      exchange.request.query.pop_back();  // force
                      return exchange;
                    },
                    409});
  shapes.push_back({"apply: a large map let go",
                    [](std::size_t bytes) {
                      return Exchange{{Apply(kConfigMapX, "me", WithData(bytes, "\"a\""))},
                                      Apply(kConfigMapX, "me", ConfigMap("", ""))};
                    },
                    200});
  shapes.push_back({"apply: a list by keys merged with another",
                    [](std::size_t bytes) {
                      return Exchange{{Apply(kDeploymentX, "other", WithEnv(bytes, 2))},
                                      Apply(kDeploymentX, "me", WithEnv(bytes, 3))};
                    },
                    200});
  shapes.push_back({"apply: members that are not declared",
                    [](std::size_t bytes) {
                      const std::string more = "," + Repeat(bytes, [](auto i) { return Member(i, "0"); });
                      return Exchange{{}, Apply(kConfigMapX, "me", ConfigMap("", more))};
                    },
                    500});
  shapes.push_back(
      {"apply: one item many times",
       [](std::size_t bytes) {
         return Exchange{
             {},
             Apply(kDeploymentX, "me",
                   Deployment("", "", "\"containers\":[" + Repeat(bytes, R"({"name":"a"})") + "]"))};
       },
       500});
  shapes.push_back(
      {"apply: lists within lists",
       [](std::size_t bytes) {
         const std::size_t levels = std::min<std::size_t>(bytes / 2, 9'000);
         const std::string value = std::string(levels, '[') + std::string(levels, ']');
         return Exchange{{}, Apply(kConfigMapX, "me", ConfigMap("", ",\"data\":{\"a\":" + value + "}"))};
       },
       400});
}

void AddOwners(std::vector<Shape>& shapes) {
  for (const char* operation : {"Update", "Apply"}) {
    shapes.push_back({std::string("owners: many managers, ") + operation,
                      [operation](std::size_t bytes) {
                        return Exchange{{Post(kConfigMaps, ConfigMap("", R"(,"data":{"a":"1"})"))},
                                        Put(kConfigMapX, ConfigMap(Entries(Stored(bytes), operation),
                                                                   R"(,"data":{"a":"2"})"))};
                      },
                      200});
    shapes.push_back({std::string("owners: applied beside many managers, ") + operation,
                      [operation](std::size_t bytes) {
                        return Exchange{{Post(kConfigMaps, ConfigMap("", R"(,"data":{"a":"1"})")),
                                         Put(kConfigMapX, ConfigMap(Entries(Stored(bytes), operation),
                                                                    R"(,"data":{"a":"1"})"))},
                                        Apply(kConfigMapX, "me", ConfigMap("", R"(,"data":{"a":"2"})"))};
                      },
                      200});
  }
  shapes.push_back(
      {"owners: many fields",
       [](std::size_t bytes) {
         const std::string fields =
             "{" + Repeat(Stored(bytes), [](std::uint32_t i) { return "\"f:" + Shuffled(i) + "\":{}"; }) +
             "}";
         return Exchange{{Post(kConfigMaps, ConfigMap("", ""))},
                         Put(kConfigMapX, ConfigMap(OneEntry(fields), ",\"data\":{\"a\":\"\"}"))};
       },
       200});
  shapes.push_back({"owners: fields of fields",
                    [](std::size_t bytes) {
                      const std::size_t levels = std::min<std::size_t>(bytes / 8, 9'000);
                      std::string fields;
                      for (std::size_t i = 0; i < levels; ++i) fields += R"({"f:a":)";
                      fields += "{}" + std::string(levels, '}');
                      return Exchange{
                          {Post(kConfigMaps, ConfigMap("", ""))},
                          Put(kConfigMapX, ConfigMap(OneEntry(fields), ",\"data\":{\"a\":\"\"}"))};
                    },
                    200});
  shapes.push_back(
      {"owners: keys that nest",
       [](std::size_t bytes) {
         const std::size_t levels = std::min<std::size_t>(bytes / 2, 9'000);
         const std::string fields = "{\"v:" + std::string(levels, '[') + std::string(levels, ']') + "\":{}}";
         return Exchange{{Post(kConfigMaps, ConfigMap("", ""))},
                         Put(kConfigMapX, ConfigMap(OneEntry(fields), ",\"data\":{\"a\":\"\"}"))};
       },
       200});
}

}  // namespace

void AddApplyShapes(std::vector<Shape>& shapes) {
  AddApplied(shapes);
  AddOwners(shapes);
}

}  // namespace terrarium::hostile
