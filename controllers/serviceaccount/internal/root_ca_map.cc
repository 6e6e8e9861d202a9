#include "controllers/serviceaccount/internal/root_ca_map.h"

#include "api/json_access.h"

namespace terrarium::controllers::serviceaccount {
namespace {

using api::Json;

constexpr const char* kDescriptionAnnotation = "kubernetes.io/description";
constexpr const char* kDescription =
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such "
    "as "
    "the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of "
    "Kubernetes clusters.";

}  // namespace

std::optional<Json> RootCaMapOf(const Json& existing, const std::string& certificates) {
  const Json data = {{"ca.crt", certificates}};
  Json map = existing.is_object() ? existing : Json{{"metadata", {{"name", kRootCaMap}}}};
  if (api::ObjectAt(map, "data") == data &&
      !api::StringAt(map, "metadata", "annotations", kDescriptionAnnotation).empty())
    return std::nullopt;
  map["data"] = data;
  map["metadata"]["annotations"][kDescriptionAnnotation] = kDescription;
  return map;
}

}  // namespace terrarium::controllers::serviceaccount
