#include "apiserver/table/partial_metadata.h"

#include <string>
#include <utility>

#include "api/json_access.h"

namespace terrarium::apiserver {
namespace {

std::string MetaApiVersion(std::string_view version) { return std::string("meta.k8s.io/").append(version); }

}  // namespace

api::Json MakePartialMetadata(const api::Json& document, std::string_view meta_version) {
  return {{"kind", "PartialObjectMetadata"},
          {"apiVersion", MetaApiVersion(meta_version)},
          {"metadata", api::ObjectAt(document, "metadata")}};
}

api::Json MakePartialMetadataList(api::Json metadata, api::Json items, std::string_view meta_version) {
  return {{"kind", "PartialObjectMetadataList"},
          {"apiVersion", MetaApiVersion(meta_version)},
          {"metadata", std::move(metadata)},
          {"items", std::move(items)}};
}

}  // namespace terrarium::apiserver
