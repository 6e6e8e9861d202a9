#include "testbed/scenario/schema.h"

#include "testbed/scenario/reader.h"
#include "testbed/scenario/step.h"

namespace terrarium::testbed::scenario {
namespace {

using Type = Shape::Type;

// Whatever else a value may be, a parameter can stand for it.
Json OrParameter(Json schema) {
  return {{"anyOf", Json::array({std::move(schema), {{"$ref", "#/definitions/parameter"}}})}};
}

Json SchemaOf(const Shape& shape);

void AddMember(Json& schema, const Member& member) {
  Json its = SchemaOf(member.shape);
  its["description"] = member.about;
  schema["properties"][std::string(member.name)] = std::move(its);
  if (member.required) schema["required"].push_back(member.name);
}

Json MapSchema(const Shape& shape) {
  Json schema = {{"type", "object"}, {"additionalProperties", SchemaOf(*shape.of)}};
  if (!shape.words.empty()) schema["propertyNames"] = OrParameter({{"enum", shape.words}});
  return schema;
}

Json TextSchema(const Shape& shape) {
  Json schema = {{"type", "string"}};
  if (!shape.words.empty()) schema["enum"] = shape.words;
  if (!shape.pattern.empty()) schema["pattern"] = shape.pattern;
  return shape.words.empty() && shape.pattern.empty() ? schema : OrParameter(std::move(schema));
}

Json FieldsSchema(const std::vector<const Members*>& members) {
  Json schema = {{"type", "object"}, {"properties", Json::object()}, {"additionalProperties", false}};
  for (const Members* some : members)
    for (const Member& member : *some) AddMember(schema, member);
  return schema;
}

// A step has exactly one verb, which determines its other keys.
Json StepSchema() {
  Json choices = Json::array();
  for (const StepDef* step : AllSteps()) {
    const Members own{{step->verb, step->value, step->about, true}};
    std::vector<const Members*> keys = KeysOf(*step);
    keys.insert(keys.begin(), &own);
    Json schema = FieldsSchema(keys);
    schema["title"] = step->verb;
    schema["description"] = step->about;
    choices.push_back(std::move(schema));
  }
  return {{"oneOf", std::move(choices)}};
}

Json SchemaOf(const Shape& shape) {
  switch (shape.type) {
    case Type::kText: return TextSchema(shape);
    case Type::kBoolean: return OrParameter({{"type", "boolean"}});
    case Type::kNumber: return OrParameter({{"type", "number"}});
    case Type::kInteger: {
      Json schema = {{"type", "integer"}};
      if (shape.least != INT64_MIN) schema["minimum"] = shape.least;
      return OrParameter(std::move(schema));
    }
    case Type::kAnything: return Json::object();
    case Type::kObject: return OrParameter({{"type", "object"}});
    case Type::kList: {
      Json schema = {{"type", "array"}, {"items", SchemaOf(*shape.of)}};
      if (shape.least > 0) schema["minItems"] = shape.least;
      return OrParameter(std::move(schema));
    }
    case Type::kMap: return OrParameter(MapSchema(shape));
    case Type::kFields: return OrParameter(FieldsSchema({&shape.members}));
    case Type::kSteps: return {{"type", "array"}, {"items", {{"$ref", "#/definitions/step"}}}};
    case Type::kEither: break;
  }
  Json choices = Json::array();
  for (const Shape* choice : shape.choices) choices.push_back(SchemaOf(*choice));
  return {{"anyOf", std::move(choices)}};
}

}  // namespace

Json ScenarioSchema() {
  Json schema = FieldsSchema({&ScenarioShape().members});
  schema["$schema"] = "http://json-schema.org/draft-07/schema#";
  schema["title"] = "A Terrarium scenario";
  schema["description"] = "What `terrarium test` runs: steps on a fresh cluster with a virtual clock.";
  Json parameter = {{"type", "string"}, {"pattern", R"(^\$\{[^}]+\}$)"}};
  schema["definitions"] = {{"parameter", std::move(parameter)}, {"step", StepSchema()}};
  return schema;
}

}  // namespace terrarium::testbed::scenario
