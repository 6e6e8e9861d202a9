// Label and field selectors: grammar, error messages, matching.

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "api/selector/field_selector.h"
#include "api/selector/label_selector.h"

namespace terrarium::api {
namespace {

LabelSelector Labels(std::string_view text) {
  Result<LabelSelector> parsed = LabelSelector::Parse(text);
  EXPECT_TRUE(parsed.ok()) << text << ": " << (parsed.ok() ? "" : parsed.status().message);
  return parsed.ok() ? *parsed : LabelSelector::Nothing();
}

std::string LabelError(std::string_view text) {
  Result<LabelSelector> parsed = LabelSelector::Parse(text);
  if (parsed.ok()) return "accepted as " + parsed->String();
  EXPECT_EQ(parsed.status().code, 400);
  EXPECT_EQ(parsed.status().reason, reason::kBadRequest);
  return parsed.status().message;
}

ObjectHeader Header(std::vector<std::pair<std::string, std::string>> labels) {
  ObjectHeader header;
  header.ns = "default";
  header.name = "a";
  header.labels = std::move(labels);
  return header;
}

TEST(LabelSelector, EachOperatorSelectsTheObjectsKubernetesSelects) {
  struct Case {
    std::string_view selector;
    std::vector<std::string_view> selected;
  };
  // a: t=1 env=x, b: t=2, c: t=3 env=y, d: t="" (an empty value), e: no labels, f: t=many
  const std::vector<std::pair<std::string_view, Json>> objects = {{"a", {{"t", "1"}, {"env", "x"}}},
                                                                  {"b", {{"t", "2"}}},
                                                                  {"c", {{"t", "3"}, {"env", "y"}}},
                                                                  {"d", {{"t", ""}}},
                                                                  {"e", Json()},
                                                                  {"f", {{"t", "many"}}}};
  const std::vector<Case> cases = {
      {"", {"a", "b", "c", "d", "e", "f"}},
      {"t=1", {"a"}},
      {"t==1", {"a"}},
      {"t!=1", {"b", "c", "d", "e", "f"}},
      {"t in (1,3)", {"a", "c"}},
      {"t notin (1,3)", {"b", "d", "e", "f"}},
      {"t in ()", {"d"}},
      {"t in (,2)", {"b", "d"}},
      {"t=", {"d"}},
      {"t=,env", {}},
      {"env", {"a", "c"}},
      {"!env", {"b", "d", "e", "f"}},
      {"env,t=3", {"c"}},
      {"t>1", {"b", "c"}},
      {"t<3", {"a", "b"}},
      {" t  in ( 1 , 2 ) , !env ", {"b"}},
  };
  for (const Case& c : cases) {
    LabelSelector selector = Labels(c.selector);
    std::vector<std::string_view> by_json, by_header;
    for (const auto& [name, labels] : objects) {
      if (selector.Matches(labels)) by_json.push_back(name);
      std::vector<std::pair<std::string, std::string>> pairs;
      if (labels.is_object())
        for (const auto& [k, v] : labels.items()) pairs.emplace_back(k, v.get<std::string>());
      if (selector.Matches(Header(pairs))) by_header.push_back(name);
    }
    EXPECT_EQ(by_json, c.selected) << c.selector;
    EXPECT_EQ(by_header, c.selected) << c.selector;
  }
}

TEST(LabelSelector, KeywordsMayBeKeysAndValues) {
  LabelSelector selector = Labels("in in (in,notin),notin=in");
  EXPECT_TRUE(selector.Matches(Json{{"in", "notin"}, {"notin", "in"}}));
  EXPECT_FALSE(selector.Matches(Json{{"in", "x"}, {"notin", "in"}}));
}

TEST(LabelSelector, TextFormIsSortedByKeyAndParsesToItself) {
  EXPECT_EQ(Labels("z!=1,b in (y,x,x),a==2,!n,e,g>4,h<5,m notin (q)").String(),
            "a==2,b in (x,y),e,g>4,h<5,m notin (q),!n,z!=1");
  for (std::string_view text : {"a=1,b in (,x),!c,d>3", "x in ()", ""})
    EXPECT_EQ(Labels(Labels(text).String()), Labels(text)) << text;
}

TEST(LabelSelector, RefusesWithTheMessagesOfKubernetes) {
  EXPECT_EQ(LabelError("t within (1)"),
            "unable to parse requirement: found 'within', expected: in, notin, =, ==, !=, gt, lt");
  EXPECT_EQ(LabelError("t=a b"), "found 'b', expected: ',' or 'end of string'");
  EXPECT_EQ(LabelError("a,"), "found '', expected: identifier after ','");
  EXPECT_EQ(LabelError(",a"), "found ',', expected: !, identifier, or 'end of string'");
  EXPECT_EQ(LabelError("!"), "unable to parse requirement: found '', expected: identifier");
  EXPECT_EQ(LabelError("!a=1"), "found '=', expected: ',' or 'end of string'");
  EXPECT_EQ(LabelError("a in"), "unable to parse requirement: found '' expected: '('");
  EXPECT_EQ(LabelError("a in ("), "unable to parse requirement: found '', expected: ',', ')' or identifier");
  EXPECT_EQ(LabelError("a in (b"), "unable to parse requirement: found '', expected: ',' or ')'");
  EXPECT_EQ(LabelError("a in (b,=)"), "unable to parse requirement: found '=', expected: ',', or identifier");
  EXPECT_EQ(LabelError("a=!"), "unable to parse requirement: found '!', expected: identifier");
  EXPECT_EQ(LabelError("a>x"),
            "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the "
            "value must "
            "be an integer");
  EXPECT_EQ(
      LabelError("_k=1"),
      "unable to parse requirement: <nil>: Invalid value: \"_k\": name part must consist of alphanumeric "
      "characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  "
      "or "
      "'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')");
  EXPECT_EQ(
      LabelError("k=_v"),
      "unable to parse requirement: values[0][k]: Invalid value: \"_v\": a valid label must be an empty "
      "string "
      "or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
      "character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
      "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')");
}

TEST(LabelSelector, DocumentCombinesLabelsAndExpressions) {
  const Json document = Json::parse(R"({"matchLabels":{"app":"web"},"matchExpressions":[
      {"key":"tier","operator":"In","values":["b","a"]},{"key":"old","operator":"DoesNotExist"},
      {"key":"env","operator":"NotIn","values":["prod"]},{"key":"team","operator":"Exists"}]})");
  Result<LabelSelector> selector = LabelSelector::FromDocument(&document);
  ASSERT_TRUE(selector.ok());
  EXPECT_EQ(selector->String(), "app=web,env notin (prod),!old,team,tier in (a,b)");
  EXPECT_TRUE(selector->Matches(Json{{"app", "web"}, {"tier", "a"}, {"team", "x"}}));
  EXPECT_FALSE(selector->Matches(Json{{"app", "web"}, {"tier", "a"}}));
  EXPECT_FALSE(selector->Matches(Json{{"app", "web"}, {"tier", "a"}, {"team", "x"}, {"env", "prod"}}));
}

TEST(LabelSelector, AbsentDocumentSelectsNothingAndEmptyOneEverything) {
  EXPECT_FALSE(LabelSelector::FromDocument(nullptr)->Matches(Json::object()));
  const Json empty = Json::object();
  EXPECT_TRUE(LabelSelector::FromDocument(&empty)->Matches(Json{{"a", "b"}}));
  EXPECT_TRUE(LabelSelector::FromMap(empty).Matches(Json()));
  EXPECT_FALSE(LabelSelector::FromMap(Json{{"a", "b"}}).Matches(Json()));
}

TEST(LabelSelector, DocumentWithBadExpressionIsRefused) {
  const Json unknown = Json::parse(R"({"matchExpressions":[{"key":"a","operator":"Near"}]})");
  EXPECT_EQ(LabelSelector::FromDocument(&unknown).status().message,
            "\"Near\" is not a valid label selector operator");
  const Json no_values = Json::parse(R"({"matchExpressions":[{"key":"a","operator":"In"}]})");
  EXPECT_EQ(LabelSelector::FromDocument(&no_values).status().message,
            "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty");
}

constexpr FieldSelectorScope kPods{.group = "", .kind = "Pod"};
constexpr FieldSelectorScope kConfigMaps{.group = "", .kind = "ConfigMap"};

std::string FieldError(std::string_view text, const FieldSelectorScope& scope) {
  Result<FieldSelector> parsed = FieldSelector::Parse(text, scope);
  if (parsed.ok()) return "accepted as " + parsed->String();
  EXPECT_EQ(parsed.status().code, 400);
  EXPECT_EQ(parsed.status().reason, reason::kBadRequest);
  return parsed.status().message;
}

bool SelectsPod(std::string_view text) {
  ObjectHeader header;
  header.ns = "ns1";
  header.name = "p1";
  header.node_name = "n1";
  header.phase = MemberName("Pending");
  Result<FieldSelector> parsed = FieldSelector::Parse(text, kPods);
  EXPECT_TRUE(parsed.ok()) << text;
  return parsed.ok() && parsed->Matches(header);
}

TEST(FieldSelector, ComparesHeaderFields) {
  EXPECT_TRUE(SelectsPod(""));
  EXPECT_TRUE(SelectsPod("metadata.name=p1"));
  EXPECT_TRUE(SelectsPod("metadata.name==p1,metadata.namespace=ns1"));
  EXPECT_FALSE(SelectsPod("metadata.name!=p1"));
  EXPECT_TRUE(SelectsPod("spec.nodeName=n1,status.phase!=Running"));
  EXPECT_FALSE(SelectsPod("spec.nodeName=n2"));
  EXPECT_FALSE(SelectsPod("spec.nodeName="));
  EXPECT_TRUE(SelectsPod("spec.host=n1"));    // the old name of spec.nodeName
  EXPECT_TRUE(SelectsPod("status.podIPs="));  // accepted, never set
  EXPECT_TRUE(SelectsPod(",status.phase=Pending,"));
}

TEST(FieldSelector, EscapedCharactersStandForThemselves) {
  Result<FieldSelector> parsed = FieldSelector::Parse(R"(metadata.name=a\,b\=c\\d)", kConfigMaps);
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->RequiresExactMatch("metadata.name"), R"(a,b=c\d)");
  EXPECT_EQ(parsed->String(), R"(metadata.name=a\,b\=c\\d)");
  EXPECT_EQ(FieldError(R"(metadata.name=a\b)", kConfigMaps),
            R"(invalid field selector: invalid escape sequence: \b)");
  EXPECT_EQ(FieldError(R"(metadata.name=a\)", kConfigMaps),
            R"(invalid field selector: invalid escape sequence: \)");
  EXPECT_EQ(FieldError("metadata.name=a=b", kConfigMaps),
            "invalid field selector: unescaped character in value: 61");
}

TEST(FieldSelector, EqualSelectorsPrintTheSameText) {
  for (std::string_view text : {"metadata.name==c,metadata.name=b", "metadata.name=b,metadata.name=c"}) {
    Result<FieldSelector> parsed = FieldSelector::Parse(text, kConfigMaps);
    ASSERT_TRUE(parsed.ok()) << text;
    EXPECT_EQ(parsed->String(), "metadata.name=b,metadata.name=c");
  }
}

TEST(FieldSelector, OnlyEqualityRequiresAnExactMatch) {
  Result<FieldSelector> parsed = FieldSelector::Parse("metadata.name!=x,metadata.namespace=y", kConfigMaps);
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->RequiresExactMatch("metadata.name"), std::nullopt);
  EXPECT_EQ(parsed->RequiresExactMatch("metadata.namespace"), "y");
}

TEST(FieldSelector, RefusesUnknownLabelsWithTheMessageOfTheKind) {
  EXPECT_EQ(FieldError("spec.foo=x", kPods), "field label not supported: spec.foo");
  EXPECT_EQ(FieldError("data.k=a", kConfigMaps),
            "\"data.k\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"");
  EXPECT_EQ(FieldError("spec.x=1", {.group = "batch", .kind = "Job"}),
            "field label \"spec.x\" not supported for Job");
  EXPECT_EQ(FieldError("metadata.namespace=x", {.group = "", .kind = "Node"}),
            "field label not supported: metadata.namespace");
  EXPECT_EQ(
      FieldError("status.replicas=1", {.group = "apps", .kind = "ReplicaSet"}),
      "\"status.replicas\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"");
}

TEST(FieldSelector, RefusesMalformedText) {
  EXPECT_EQ(FieldError("metadata.name", kConfigMaps),
            "invalid selector: 'metadata.name'; can't understand 'metadata.name'");
  EXPECT_EQ(FieldError("spec.foo=1,zzz", kPods),
            "invalid selector: 'spec.foo=1,zzz'; can't understand 'zzz'");
}

TEST(FieldSelector, EventsOfBothGroupsNameTheSameFields) {
  constexpr std::string_view kFields[] = {"involvedObject.name", "reportingComponent"};
  ObjectHeader header;
  header.fields = {"web", "kubelet"};
  auto core =
      FieldSelector::Parse("involvedObject.name=web", {.group = "", .kind = "Event", .selectable = kFields});
  auto grouped = FieldSelector::Parse("regarding.name=web,reportingController=kubelet",
                                      {.group = "events.k8s.io", .kind = "Event", .selectable = kFields});
  ASSERT_TRUE(core.ok());
  ASSERT_TRUE(grouped.ok());
  EXPECT_TRUE(core->Matches(header));
  EXPECT_TRUE(grouped->Matches(header));
  constexpr std::string_view kOwnNames[] = {"regarding.name", "reportingController"};
  auto own = FieldSelector::Parse("regarding.name=web,reportingController!=kubelet",
                                  {.group = "events.k8s.io", .kind = "Event", .selectable = kOwnNames});
  ASSERT_TRUE(own.ok());
  EXPECT_FALSE(own->Matches(header));
  EXPECT_EQ(FieldError("involvedObject.name=web",
                       {.group = "events.k8s.io", .kind = "Event", .selectable = kFields}),
            "field label not supported: involvedObject.name");
}

TEST(FieldSelector, AKindThatIsNotBuiltInIsSelectedByTheFieldsThatItDeclares) {
  constexpr std::string_view kFields[] = {"spec.color"};
  const FieldSelectorScope widgets = {.group = "example.com", .kind = "Widget", .selectable = kFields};
  ObjectHeader header;
  header.fields = {"red"};
  auto red = FieldSelector::Parse("spec.color=red", widgets);
  ASSERT_TRUE(red.ok());
  EXPECT_TRUE(red->Matches(header));
  EXPECT_EQ(FieldError("spec.size=1", widgets),
            R"("spec.size" is not a known field selector: only "metadata.name", "metadata.namespace")");
}

}  // namespace
}  // namespace terrarium::api
