#include "controllers/runtime/why.h"

#include <utility>

#include "api/base/errors.h"
#include "testbed/control_plane/components.h"
#include "testbed/control_plane/object_watch.h"
#include "testbed/server/control/endpoint.h"

namespace terrarium::testbed::control {
namespace {

void GetWhy(Call call) {
  storage::ObjectKey key{call.query["resource"], call.query["namespace"], call.query["name"]};
  bool about_all = key == storage::ObjectKey{};
  if (!about_all) {
    if (key.resource.empty() || key.name.empty())
      return call.reply(api::BadRequest("resource and name are given together, or neither"));
    auto named = KeyOfNamed(call.control.control_plane(), std::move(key));
    if (!named) return call.reply(named.status());
    key = std::move(*named);
  }
  Json records = Json::array();
  for (const controllers::WhyRecord& record :
       call.control.control_plane().components().why().Find(key.resource, {key.ns, key.name}))
    records.push_back(ToJson(record));
  call.reply(Json{{"records", std::move(records)}});
}

constexpr Endpoint kEndpoints[] = {
    {"GET", "/why",
     "the objects that controllers created, deleted and scaled: on whose behalf, by which rule and numbers",
     "", GetWhy, "", "resource=replicasets&namespace=default&name=web"},
};

}  // namespace

std::span<const Endpoint> WhyEndpoints() { return kEndpoints; }

}  // namespace terrarium::testbed::control
