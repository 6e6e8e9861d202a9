#pragma once

// Schemas in the form of OpenAPI: only those that an operation refers to, directly or indirectly.

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "api/schema/schema.h"
#include "apiserver/openapi/internal/operations.h"
#include "apiserver/resource_table.h"

namespace terrarium::apiserver::openapi {

enum class Dialect { kV2, kV3 };

class Definitions {
 public:
  Definitions(Dialect dialect, const ResourceTable& table);

  // {"$ref": ...} to a schema, which Take() will then describe.
  api::Json Ref(std::string_view name);
  // All schemas that Ref() was asked for and those they need, by name.
  api::Json Take();

 private:
  api::Json Describe(const std::string& name);
  api::Json Struct(const api::Message& message);
  api::Json Property(const api::Field& field);
  api::Json Element(const api::Field& field);
  api::Json Reference(std::string_view name);
  void AddKind(const std::string& name, Gvk gvk);

  // In the built-in schema or in that of an added resource; nullptr: a well-known name.
  const api::Message* FindMessage(std::string_view name) const;

  Dialect dialect_;
  std::set<const api::Schema*> added_schemas_;
  std::map<std::string, std::vector<Gvk>> kinds_;  // which schemas are kinds, by schema name
  std::set<std::string> wanted_;
  api::Json done_ = api::Json::object();
};

// {"group": ..., "version": ..., "kind": ...}
api::Json GvkJson(const Gvk& gvk);

}  // namespace terrarium::apiserver::openapi
