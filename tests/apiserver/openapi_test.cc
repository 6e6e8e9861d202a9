#include "apiserver/openapi/openapi.h"

#include <set>

#include <gtest/gtest.h>

#include "api/json.h"
#include "api/schema/schema.h"
#include "apiserver/resource_table.h"

namespace terrarium::apiserver {
namespace {

using api::Json;

const OpenApiDocuments& Documents() { return ResourceTable::BuiltIn()->openapi(); }

const Json& V2() {
  static const Json document = Json::parse(Documents().V2Json().body);
  return document;
}

Json V3(const char* name) {
  const OpenApiDoc* doc = Documents().V3Document(name);
  return doc == nullptr ? Json() : Json::parse(doc->body);
}

const Json& V3Apps() {
  static const Json document = V3("apis/apps/v1");
  return document;
}

Json V2Property(const char* type, const char* field) {
  return V2()["definitions"][type]["properties"][field];
}

void CollectRefs(const Json& value, std::set<std::string>& out) {
  if (value.is_object() && value.contains("$ref") && value["$ref"].is_string()) out.insert(value["$ref"]);
  if (value.is_structured())
    for (const Json& member : value) CollectRefs(member, out);
}

void ExpectRefsResolve(const Json& document) {
  std::set<std::string> refs;
  CollectRefs(document, refs);
  EXPECT_FALSE(refs.empty());
  for (const std::string& ref : refs)
    EXPECT_TRUE(document.contains(Json::json_pointer(ref.substr(1)))) << ref;
}

TEST(OpenApi, EveryReferenceResolves) {
  ExpectRefsResolve(V2());
  const Json index = Json::parse(Documents().V3Index().body);
  for (const auto& [name, entry] : index["paths"].items()) ExpectRefsResolve(V3(name.c_str()));
}

TEST(OpenApi, EveryServedKindIsDefinedAndNamesItself) {
  for (const ResourceInfo& resource : ResourceTable::BuiltIn()->all()) {
    const Json kind = {{"group", resource.group}, {"version", resource.version}, {"kind", resource.kind}};
    const Json& definition = V2()["definitions"][std::string(resource.message)];
    ASSERT_TRUE(definition.is_object()) << resource.message;
    EXPECT_EQ(definition["x-kubernetes-group-version-kind"], Json::array({kind})) << resource.message;
  }
}

TEST(OpenApi, EveryPatchOperationNamesItsKindAndItsOptions) {
  int patches = 0;
  for (const auto& [path, item] : V2()["paths"].items()) {
    if (!item.contains("patch")) continue;
    ++patches;
    const Json& operation = item["patch"];
    EXPECT_TRUE(operation["x-kubernetes-group-version-kind"].contains("kind")) << path;
    EXPECT_EQ(operation["x-kubernetes-action"], "patch");
    std::set<std::string> names;
    for (const Json& parameter : operation["parameters"]) names.insert(parameter["name"]);
    for (const char* name : {"body", "dryRun", "fieldManager", "fieldValidation", "force", "pretty"})
      EXPECT_TRUE(names.contains(name)) << path << " " << name;
  }
  EXPECT_GT(patches, 20);
}

TEST(OpenApi, VerbsFollowTheResourceTable) {
  const Json& paths = V2()["paths"];
  const Json& collection = paths["/apis/apps/v1/namespaces/{namespace}/deployments"];
  EXPECT_EQ(collection["get"]["x-kubernetes-action"], "list");
  EXPECT_EQ(collection["post"]["operationId"], "createAppsV1NamespacedDeployment");
  EXPECT_EQ(collection["delete"]["operationId"], "deleteAppsV1CollectionNamespacedDeployment");
  EXPECT_EQ(paths["/apis/apps/v1/deployments"]["get"]["operationId"], "listAppsV1DeploymentForAllNamespaces");
  const Json& scale = paths["/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale"];
  EXPECT_EQ(scale["put"]["operationId"], "replaceAppsV1NamespacedDeploymentScale");
  EXPECT_EQ(scale["get"]["x-kubernetes-group-version-kind"],
            Json::parse(R"({"group":"autoscaling","version":"v1","kind":"Scale"})"));
  EXPECT_FALSE(paths["/api/v1/namespaces"].contains("delete"));
  EXPECT_FALSE(paths["/api/v1/nodes/{name}"]["get"].is_null());
  EXPECT_EQ(paths["/api/v1/namespaces/{namespace}/pods/{name}/log"]["get"]["produces"][0], "text/plain");
}

TEST(OpenApi, OperationIdsAreUnique) {
  std::set<std::string> seen;
  for (const auto& [path, item] : V2()["paths"].items()) {
    for (const auto& [method, operation] : item.items()) {
      if (operation.is_object()) {
        EXPECT_TRUE(seen.insert(operation["operationId"]).second) << path << " " << method;
      }
    }
  }
}

TEST(OpenApi, EveryPathParameterIsDeclared) {
  for (const auto& [path, item] : V2()["paths"].items()) {
    std::set<std::string> declared;
    if (item.contains("parameters"))
      for (const Json& parameter : item["parameters"]) declared.insert(parameter["name"]);
    for (const char* name : {"name", "namespace"}) {
      const bool used = path.find("{" + std::string(name) + "}") != std::string::npos;
      EXPECT_EQ(declared.contains(name), used) << path;
    }
  }
}

TEST(OpenApi, EveryOperationDocumentsItsErrors) {
  for (const auto& [path, item] : V3Apps()["paths"].items()) {
    for (const auto& [method, operation] : item.items()) {
      if (!operation.is_object()) continue;
      EXPECT_EQ(operation["responses"]["default"]["content"]["application/json"]["schema"]["$ref"],
                "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.Status")
          << path << " " << method;
      EXPECT_TRUE(operation["responses"].contains("401"));
      EXPECT_TRUE(operation["responses"].contains("200"));
    }
  }
}

TEST(OpenApi, FieldsCarryTypesFormatsDefaultsAndEnums) {
  Json replicas = V2Property("io.k8s.api.apps.v1.DeploymentSpec", "replicas");
  EXPECT_EQ(replicas["type"], "integer");
  EXPECT_EQ(replicas["format"], "int32");
  EXPECT_EQ(replicas["default"], 1);
  EXPECT_EQ(V2Property("io.k8s.api.core.v1.Secret", "data")["additionalProperties"],
            Json::parse(R"({"type":"string","format":"byte"})"));
  EXPECT_EQ(V2Property("io.k8s.api.core.v1.PodSpec", "restartPolicy")["enum"],
            Json::parse(R"(["Always","Never","OnFailure"])"));
  EXPECT_EQ(V2()["definitions"]["io.k8s.api.apps.v1.DeploymentSpec"]["required"],
            Json::parse(R"(["selector","template"])"));
  EXPECT_EQ(V2()["definitions"]["io.k8s.apimachinery.pkg.apis.meta.v1.Time"]["format"], "date-time");
}

TEST(OpenApi, ListsCarryTheirMergeRules) {
  Json containers = V2Property("io.k8s.api.core.v1.PodSpec", "containers");
  EXPECT_EQ(containers["x-kubernetes-patch-strategy"], "merge");
  EXPECT_EQ(containers["x-kubernetes-patch-merge-key"], "name");
  EXPECT_EQ(containers["x-kubernetes-list-type"], "map");
  EXPECT_EQ(containers["x-kubernetes-list-map-keys"], Json::parse(R"(["name"])"));
  EXPECT_EQ(V2Property("io.k8s.api.core.v1.Container", "ports")["x-kubernetes-list-map-keys"],
            Json::parse(R"(["containerPort","protocol"])"));
  EXPECT_EQ(V2Property("io.k8s.api.core.v1.PodSpec", "volumes")["x-kubernetes-patch-strategy"],
            "merge,retainKeys");
  const Json& selector = V2()["definitions"]["io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector"];
  EXPECT_EQ(selector["x-kubernetes-map-type"], "atomic");
}

TEST(OpenApi, IntOrStringAndReferencesDifferBetweenTheVersions) {
  const char* name = "io.k8s.apimachinery.pkg.util.intstr.IntOrString";
  EXPECT_EQ(V2()["definitions"][name]["type"], "string");
  EXPECT_EQ(V2()["definitions"][name]["format"], "int-or-string");
  const Json& v3 = V3Apps()["components"]["schemas"];
  EXPECT_EQ(v3[name]["oneOf"], Json::parse(R"([{"type":"integer"},{"type":"string"}])"));
  EXPECT_EQ(V2Property("io.k8s.api.apps.v1.Deployment", "spec")["$ref"],
            "#/definitions/io.k8s.api.apps.v1.DeploymentSpec");
  EXPECT_EQ(v3["io.k8s.api.apps.v1.Deployment"]["properties"]["spec"]["allOf"][0]["$ref"],
            "#/components/schemas/io.k8s.api.apps.v1.DeploymentSpec");
}

TEST(OpenApi, EveryPropertyIsDescribed) {
  for (const auto& [name, definition] : V2()["definitions"].items()) {
    if (api::Schema::Get().Find(name) == nullptr || !definition.contains("properties")) continue;
    for (const auto& [field, property] : definition["properties"].items())
      EXPECT_FALSE(property.value("description", "").empty()) << name << "." << field;
  }
}

// Enough of a protobuf reader to walk the document.
struct Wire {
  std::string_view rest;
  std::uint64_t Varint() {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      auto byte = static_cast<unsigned char>(rest.at(0));
      rest.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  }
  // Calls `visit` with every length-delimited field.
  template <typename Visit>
  void Each(Visit visit) {
    while (!rest.empty()) {
      const std::uint64_t tag = Varint();
      const std::uint64_t value = Varint();
      if ((tag & 7) == 0) continue;
      ASSERT_EQ(tag & 7, 2u);
      ASSERT_LE(value, rest.size());
      visit(static_cast<int>(tag >> 3), rest.substr(0, value));
      rest.remove_prefix(value);
    }
  }
};

std::vector<std::string> NamesIn(std::string_view bytes, int field) {
  std::vector<std::string> out;
  Wire{bytes}.Each([&](int number, std::string_view entry) {
    if (number != field) return;
    Wire{entry}.Each([&](int part, std::string_view text) {
      if (part == 1) out.emplace_back(text);
    });
  });
  return out;
}

TEST(OpenApi, ProtobufHoldsThePathsAndDefinitionsOfTheJson) {
  std::string swagger;
  std::vector<std::string> paths, definitions;
  Wire{Documents().V2Protobuf().body}.Each([&](int number, std::string_view bytes) {
    if (number == 1) swagger = bytes;
    if (number == 8) paths = NamesIn(bytes, 2);
    if (number == 9) definitions = NamesIn(bytes, 1);
  });
  EXPECT_EQ(swagger, "2.0");
  std::vector<std::string> expected_paths, expected_definitions;
  for (const auto& [name, value] : V2()["paths"].items()) expected_paths.push_back(name);
  for (const auto& [name, value] : V2()["definitions"].items()) expected_definitions.push_back(name);
  EXPECT_EQ(paths, expected_paths);
  EXPECT_EQ(definitions, expected_definitions);
  EXPECT_EQ(Documents().V2Protobuf().etag, Documents().V2Json().etag);
}

std::string Header(const Response& response, std::string_view name) {
  for (const auto& [key, value] : response.headers)
    if (key == name) return value;
  return "";
}

Response Ask(OpenApiRequest request) {
  std::optional<Response> response = Documents().Answer(request);
  CHECK(response.has_value());
  return std::move(*response);
}

TEST(AnswerOpenApi, NegotiatesTheFormOfVersion2) {
  const std::string protobuf = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
  auto type = [](std::string_view accept) {
    return Ask({.path = "/openapi/v2", .hash = {}, .accept = accept, .if_none_match = {}}).content_type;
  };
  EXPECT_EQ(type(""), "application/json");
  EXPECT_EQ(type("*/*"), "application/json");
  EXPECT_EQ(type("application/com.github.proto-openapi.spec.v2@v1.0+protobuf"), protobuf);
  EXPECT_EQ(type(protobuf + ", application/json"), protobuf);
  EXPECT_EQ(type(protobuf + ";q=0.5, application/json"), "application/json");
  EXPECT_EQ(Ask({.path = "/openapi/v2", .hash = {}, .accept = "text/html", .if_none_match = {}}).code, 406);
}

TEST(AnswerOpenApi, AKnownEtagIsNotSentAgain) {
  Response first = Ask({.path = "/openapi/v2", .hash = {}, .accept = {}, .if_none_match = {}});
  ASSERT_EQ(first.code, 200);
  const std::string etag = Header(first, "Etag");
  EXPECT_EQ(etag, "\"" + Documents().V2Json().etag + "\"");
  Response again = Ask({.path = "/openapi/v2", .hash = {}, .accept = {}, .if_none_match = etag});
  EXPECT_EQ(again.code, 304);
  EXPECT_EQ(again.body, "");
  EXPECT_EQ(Ask({.path = "/openapi/v2", .hash = {}, .accept = {}, .if_none_match = "\"other\""}).code, 200);
}

TEST(AnswerOpenApi, TheIndexLeadsToCacheableDocuments) {
  Json index = Json::parse(Ask({.path = "/openapi/v3", .hash = {}, .accept = {}, .if_none_match = {}}).body);
  const std::string url = index["paths"]["apis/apps/v1"]["serverRelativeURL"];
  const std::string prefix = "/openapi/v3/apis/apps/v1?hash=";
  ASSERT_TRUE(url.starts_with(prefix)) << url;
  const std::string hash = url.substr(prefix.size());

  Response right = Ask({.path = "/openapi/v3/apis/apps/v1", .hash = hash, .accept = {}, .if_none_match = {}});
  EXPECT_EQ(right.code, 200);
  EXPECT_TRUE(Header(right, "Cache-Control").starts_with("public, immutable"));
  Response wrong = Ask({.path = "/openapi/v3/apis/apps/v1", .hash = "0", .accept = {}, .if_none_match = {}});
  EXPECT_EQ(wrong.code, 301);
  EXPECT_EQ(Header(wrong, "Location"), url);
  Response plain = Ask({.path = "/openapi/v3/apis/apps/v1", .hash = {}, .accept = {}, .if_none_match = {}});
  EXPECT_EQ(plain.code, 200);
  EXPECT_EQ(Header(plain, "Cache-Control"), "");
}

TEST(AnswerOpenApi, UnknownDocumentsAndPaths) {
  EXPECT_EQ(Ask({.path = "/openapi/v3/apis/nope/v1", .hash = {}, .accept = {}, .if_none_match = {}}).code,
            404);
  EXPECT_FALSE(
      Documents().Answer({.path = "/openapi/v4", .hash = {}, .accept = {}, .if_none_match = {}}).has_value());
}

}  // namespace
}  // namespace terrarium::apiserver
