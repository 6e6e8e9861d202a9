// Resources that are added and removed while handlers run, and exceptions inside a request.

#include "apiserver/resource_registry.h"

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "api/json_access.h"
#include "api/write_request.h"
#include "apiserver/handler.h"
#include "apiserver/openapi/openapi.h"
#include "apiserver/table/table.h"
#include "tests/apiserver/bare_server.h"
#include "tests/apiserver/widget_resource.h"

namespace terrarium::apiserver {
namespace {

using api::Json;

constexpr const char* kWidgetsPath = "/apis/example.com/v1/namespaces/default/widgets";
constexpr const char* kTable = "application/json;as=Table;g=meta.k8s.io;v=v1";
constexpr const char* kAggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

Json Widget(const std::string& name) {
  return {{"metadata", {{"name", name}}}, {"spec", {{"color", "red"}, {"size", 3}}}};
}

bool HasGroup(const Json& groups, const std::string& name) {
  for (const Json& group : groups["groups"])
    if (group["name"] == name) return true;
  return false;
}

TEST(ResourceRegistry, AnAddedResourceIsServedByItsOwnControlPlaneAlone) {
  BareServer with, without;
  EXPECT_EQ(with.Send("POST", kWidgetsPath, Widget("a")).code, 404);
  with.registry().Put({WidgetResource()});

  const Response created = with.Send("POST", kWidgetsPath, Widget("a"));
  ASSERT_EQ(created.code, 201) << created.body;
  const Json widget = with.GetJson(std::string(kWidgetsPath) + "/a");
  EXPECT_EQ(widget["apiVersion"], "example.com/v1");
  EXPECT_EQ(widget["kind"], "Widget");
  EXPECT_EQ(widget["spec"], (Json{{"color", "red"}, {"size", 3}}));
  EXPECT_EQ(widget["metadata"]["generation"], 1);
  EXPECT_EQ(with.GetJson(kWidgetsPath)["kind"], "WidgetList");
  EXPECT_EQ(with.Send("DELETE", std::string(kWidgetsPath) + "/a").code, 200);
  EXPECT_EQ(with.Get(std::string(kWidgetsPath) + "/a").code, 404);

  EXPECT_EQ(without.Send("POST", kWidgetsPath, Widget("a")).code, 404);
  EXPECT_EQ(without.Get(kWidgetsPath).body, "404 page not found\n");
}

TEST(ResourceRegistry, UnknownFieldsOfAnAddedResourceAreFoundByItsSchema) {
  BareServer server;
  server.registry().Put({WidgetResource()});
  Json widget = Widget("a");
  widget["spec"]["colour"] = "red";
  const Response refused = server.Send("POST", std::string(kWidgetsPath) + "?fieldValidation=Strict", widget);
  EXPECT_EQ(refused.code, 400);
  EXPECT_NE(refused.body.find(R"(unknown field \"spec.colour\")"), std::string::npos) << refused.body;
}

TEST(ResourceRegistry, AnAddedResourceIsDiscovered) {
  BareServer with, without;
  with.registry().Put({WidgetResource()});
  EXPECT_TRUE(HasGroup(with.GetJson("/apis"), "example.com"));
  EXPECT_FALSE(HasGroup(without.GetJson("/apis"), "example.com"));
  EXPECT_EQ(with.GetJson("/apis/example.com")["preferredVersion"]["version"], "v1");
  const Json list = with.GetJson("/apis/example.com/v1");
  EXPECT_EQ(list["resources"][0]["name"], "widgets");
  EXPECT_EQ(list["resources"][0]["shortNames"], Json::array({"wd"}));
  EXPECT_EQ(list["resources"][1]["name"], "widgets/status");
  EXPECT_EQ(without.Get("/apis/example.com/v1").code, 404);

  const Json groups = with.GetJson("/apis", kAggregated)["items"];
  EXPECT_EQ(groups.back()["metadata"]["name"], "example.com");
  EXPECT_EQ(groups.back()["versions"][0]["resources"][0]["resource"], "widgets");
  auto etag = [](const Response& response) {
    for (const auto& [name, value] : response.headers)
      if (name == "ETag") return value;
    return std::string();
  };
  EXPECT_NE(etag(with.Get("/apis", kAggregated)), etag(without.Get("/apis", kAggregated)));
}

TEST(ResourceRegistry, OpenApiDescribesAnAddedResource) {
  BareServer with, without;
  const Json before = with.GetJson("/openapi/v3");
  with.registry().Put({WidgetResource()});
  const Json index = with.GetJson("/openapi/v3");
  ASSERT_TRUE(index["paths"].contains("apis/example.com/v1"));
  EXPECT_EQ(without.GetJson("/openapi/v3"), before);
  EXPECT_EQ(index["paths"]["apis/apps/v1"], before["paths"]["apis/apps/v1"]);

  const Json v3 = with.GetJson("/openapi/v3/apis/example.com/v1");
  EXPECT_EQ(v3["components"]["schemas"]["com.example.v1.WidgetSpec"]["properties"]["size"]["type"],
            "integer");
  EXPECT_TRUE(v3["components"]["schemas"].contains("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"));
  const std::string path = "/apis/example.com/v1/namespaces/{namespace}/widgets";
  EXPECT_EQ(v3["paths"][path]["post"]["operationId"], "createExampleComV1NamespacedWidget");
  const Json v2 = with.GetJson("/openapi/v2");
  EXPECT_TRUE(v2["paths"].contains(path));
  EXPECT_TRUE(v2["definitions"].contains("com.example.v1.Widget"));
  EXPECT_FALSE(without.GetJson("/openapi/v2")["paths"].contains(path));
}

TEST(ResourceRegistry, ControlPlanesShareWhatIsBuiltIn) {
  BareServer a, b;
  EXPECT_EQ(a.registry().Table(), b.registry().Table());
  a.registry().Put({WidgetResource()});
  const auto table = a.registry().Table();
  EXPECT_EQ(table->Find("", "v1", "pods"), b.registry().Table()->Find("", "v1", "pods"));
  EXPECT_EQ(table->openapi().V3Document("apis/apps/v1"),
            ResourceTable::BuiltIn()->openapi().V3Document("apis/apps/v1"));
  a.registry().Remove("example.com", "widgets");
  EXPECT_EQ(a.registry().Table(), b.registry().Table());
}

TEST(ResourceRegistry, ARemovedResourceIsNotFoundAndItsWatchesEnd) {
  BareServer server;
  server.registry().Put({WidgetResource()});
  Response widgets = server.Get(std::string(kWidgetsPath) + "?watch=1");
  Response pods = server.Get("/api/v1/pods?watch=1");
  ASSERT_NE(widgets.stream, nullptr);
  int wakes = 0;
  widgets.stream->SetWake([&] { ++wakes; });
  std::string text;
  EXPECT_EQ(widgets.stream->Read(10'000, text), ResponseStream::State::kOpen);
  ASSERT_EQ(server.Send("POST", kWidgetsPath, Widget("a")).code, 201);

  wakes = 0;
  EXPECT_TRUE(server.registry().Remove("example.com", "widgets"));
  EXPECT_FALSE(server.registry().Remove("example.com", "widgets"));
  EXPECT_EQ(wakes, 1);
  // Earlier events are sent first.
  EXPECT_EQ(widgets.stream->Read(10'000, text), ResponseStream::State::kEnd);
  EXPECT_NE(text.find(R"("type":"ADDED")"), std::string::npos);
  EXPECT_EQ(pods.stream->Read(10'000, text), ResponseStream::State::kOpen);

  EXPECT_EQ(server.Get(kWidgetsPath).code, 404);
  EXPECT_FALSE(HasGroup(server.GetJson("/apis"), "example.com"));
  EXPECT_FALSE(server.GetJson("/openapi/v3")["paths"].contains("apis/example.com/v1"));
}

TEST(ResourceRegistry, AnEntryOutlivesItsRemovalWhileInUse) {
  auto registry = ResourceRegistry::Make();
  registry->Put({WidgetResource()});
  const auto table = registry->Table();
  const ResourceInfo* widgets = table->Find("example.com", "v1", "widgets");
  registry->Remove("example.com", "widgets");
  EXPECT_EQ(registry->Table()->Find("example.com", "v1", "widgets"), nullptr);
  EXPECT_EQ(widgets->Schema().name(), "com.example.v1.Widget");
}

TEST(ResourceRegistry, VersionsOfAResourceShareItsObjects) {
  BareServer server;
  server.registry().Put({WidgetResource("v1beta1"), WidgetResource("v2"), WidgetResource("v1")});
  EXPECT_EQ(server.Send("POST", "/apis/example.com/v1beta1/namespaces/default/widgets", Widget("a")).code,
            201);
  for (const char* version : {"v1beta1", "v1", "v2"}) {
    const std::string path = std::string("/apis/example.com/") + version + "/namespaces/default/widgets/a";
    EXPECT_EQ(server.GetJson(path)["apiVersion"], std::string("example.com/") + version);
  }
  Json versions = Json::array();
  const Json group = server.GetJson("/apis/example.com");
  for (const Json& version : group["versions"]) versions.push_back(version["version"]);
  EXPECT_EQ(versions, Json::array({"v2", "v1", "v1beta1"}));
  EXPECT_EQ(server.registry().Table()->FindStorage(kWidgets)->version, "v1beta1");
}

TEST(ResourceRegistry, ListenersAreNotifiedOfEachChange) {
  auto registry = ResourceRegistry::Make();
  int changes = 0;
  auto listener = registry->OnChange([&] { ++changes; });
  registry->Put({WidgetResource()});
  registry->Put({WidgetResource()});
  registry->Remove("example.com", "widgets");
  EXPECT_EQ(changes, 3);
  listener = nullptr;
  registry->Put({WidgetResource()});
  EXPECT_EQ(changes, 3);
}

class ColorPrinter : public TablePrinter {
 public:
  Json ColumnDefinitions() const override {
    return Json::array(
        {{{"name", "Color"}, {"type", "string"}, {"format", ""}, {"description", ""}, {"priority", 0}}});
  }
  std::vector<Json> Cells(const Json& object, api::Time) const override {
    const std::string color(api::StringAt(object, "spec", "color"));
    if (color == "invisible") throw std::runtime_error("no such color");
    return {color};
  }
};

TEST(ResourceRegistry, AResourceBringsItsColumns) {
  BareServer server;
  ResourceInfo widgets = WidgetResource();
  widgets.printer = std::make_shared<ColorPrinter>();
  server.registry().Put({widgets});
  ASSERT_EQ(server.Send("POST", kWidgetsPath, Widget("a")).code, 201);
  const Json table = server.GetJson(kWidgetsPath, kTable);
  EXPECT_EQ(table["columnDefinitions"][0]["name"], "Color");
  EXPECT_EQ(table["rows"][0]["cells"], Json::array({"red"}));
}

// Throws for objects with one name.
class ThrowingStrategy : public Strategy {
 public:
  bool HasStatus() const override { return false; }
  FieldErrors Validate(const StrategyContext&, const Json& object) const override {
    if (api::StringAt(object, "metadata", "name") == "bad") throw std::runtime_error("a bug in a strategy");
    return {};
  }
  FieldErrors ValidateUpdate(const StrategyContext&, const Json&, const Json&) const override { return {}; }
};

class HandlerPanic : public testing::Test {
 protected:
  HandlerPanic() {
    ResourceInfo widgets = WidgetResource();
    widgets.strategy = std::make_shared<ThrowingStrategy>();
    widgets.printer = std::make_shared<ColorPrinter>();
    server_.registry().Put({widgets});
  }
  static void ExpectPanic(const Response& response) {
    EXPECT_EQ(response.code, 500);
    const Json status = Json::parse(response.body, nullptr, false);
    EXPECT_EQ(status["kind"], "Status");
    EXPECT_EQ(status["reason"], "InternalError");
    EXPECT_EQ(status["message"],
              "Internal error occurred: This request caused apiserver to panic. Look in the logs for "
              "details.");
  }
  Json Invisible() {
    Json widget = Widget("ghost");
    widget["spec"]["color"] = "invisible";
    return widget;
  }
  BareServer server_;
};

TEST_F(HandlerPanic, AnExceptionInAStrategyIsAnInternalError) {
  ExpectPanic(server_.Send("POST", kWidgetsPath, Widget("bad")));
  EXPECT_NE(server_.logged.str().find("a bug in a strategy"), std::string::npos);
  EXPECT_EQ(server_.Send("POST", kWidgetsPath, Widget("good")).code, 201);
}

TEST_F(HandlerPanic, AClientInTheProcessGetsItAsWell) {
  std::optional<api::Client::Written> answer;
  server_.handler->Write(api::RequestToCreate(kWidgets, "default", Widget("bad")), {},
                         [&](api::Client::Written written) { answer = std::move(written); });
  ASSERT_TRUE(answer.has_value());
  ASSERT_FALSE(answer->ok());
  EXPECT_EQ(answer->status().reason, "InternalError");
}

TEST_F(HandlerPanic, AnExceptionAfterTheWriteLeavesTheStoreUsable) {
  ExpectPanic(server_.Send("POST", kWidgetsPath, Invisible(), kTable));
  EXPECT_EQ(server_.Get(std::string(kWidgetsPath) + "/ghost").code, 200);
  EXPECT_EQ(server_.Send("POST", kWidgetsPath, Widget("good")).code, 201);
}

TEST_F(HandlerPanic, AnExceptionInAWatchCutsIt) {
  Response watch = server_.Get(std::string(kWidgetsPath) + "?watch=1", kTable);
  ASSERT_NE(watch.stream, nullptr);
  ASSERT_EQ(server_.Send("POST", kWidgetsPath, Invisible()).code, 201);
  std::string text;
  EXPECT_EQ(watch.stream->Read(10'000, text), ResponseStream::State::kCut);
}

}  // namespace
}  // namespace terrarium::apiserver
