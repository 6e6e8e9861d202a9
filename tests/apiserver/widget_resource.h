#pragma once

// A namespaced kind that is not built in: Widgets of example.com, with a schema made by hand and the generic
// strategy.

#include <memory>
#include <string>
#include <utility>

#include "api/schema/schema.h"
#include "apiserver/resource_table.h"
#include "apiserver/strategies.h"

namespace terrarium::apiserver {

inline constexpr const char* kWidgets = "widgets.example.com";  // the storage name

inline std::shared_ptr<const api::Schema> WidgetSchema() {
  using enum api::FieldType;
  static constexpr api::FieldDef kSpec[] = {{.name = "color", .presence = api::kOmitEmpty},
                                            {.name = "size", .type = kInt64, .presence = api::kOmitEmpty}};
  static constexpr api::FieldDef kStatus[] = {{.name = "phase", .presence = api::kOmitEmpty}};
  static constexpr api::FieldDef kWidget[] = {
      {.name = "apiVersion", .presence = api::kOmitEmpty},
      {.name = "kind", .presence = api::kOmitEmpty},
      {.name = "metadata",
       .type = kMessage,
       .presence = api::kOmitEmpty,
       .message = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"},
      {.name = "spec", .type = kMessage, .presence = api::kOmitEmpty, .message = "com.example.v1.WidgetSpec"},
      {.name = "status",
       .type = kMessage,
       .presence = api::kOmitEmpty,
       .message = "com.example.v1.WidgetStatus"}};
  static constexpr api::FieldDef kList[] = {{.name = "apiVersion", .presence = api::kOmitEmpty},
                                            {.name = "kind", .presence = api::kOmitEmpty},
                                            {.name = "metadata",
                                             .type = kMessage,
                                             .presence = api::kOmitEmpty,
                                             .message = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta"},
                                            {.name = "items",
                                             .type = kMessage,
                                             .cardinality = api::Cardinality::kList,
                                             .message = "com.example.v1.Widget"}};
  static constexpr api::MessageDef kMessages[] = {{"com.example.v1.Widget", kWidget},
                                                  {"com.example.v1.WidgetList", kList},
                                                  {"com.example.v1.WidgetSpec", kSpec},
                                                  {"com.example.v1.WidgetStatus", kStatus}};
  return api::Schema::Make(kMessages);
}

inline ResourceInfo WidgetResource(std::string version = "v1") {
  ResourceInfo out;
  out.group = "example.com";
  out.version = std::move(version);
  out.kind = "Widget";
  out.plural = "widgets";
  out.singular = "widget";
  out.short_names = {"wd"};
  out.categories = {"all"};
  out.verbs = {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"};
  out.subresources = {
      {.name = "status", .group = "", .version = "", .kind = "Widget", .verbs = {"get", "patch", "update"}}};
  out.message = "com.example.v1.Widget";
  out.storage = kWidgets;
  out.etcd_prefix = "example.com/widgets";
  out.strategy = {std::shared_ptr<const Strategy>(), &GenericStrategy(true)};
  out.schema = WidgetSchema();
  return out;
}

}  // namespace terrarium::apiserver
