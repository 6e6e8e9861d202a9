#pragma once

// An object's metadata alone, for clients that ask for as=PartialObjectMetadata or
// as=PartialObjectMetadataList.

#include <string_view>

#include "api/json.h"

namespace terrarium::apiserver {

// `meta_version` is the version of meta.k8s.io, v1 or v1beta1.
api::Json MakePartialMetadata(const api::Json& document, std::string_view meta_version);
// `metadata` is the ListMeta of the response. Items are added with MakePartialMetadata().
api::Json MakePartialMetadataList(api::Json metadata, api::Json items, std::string_view meta_version);

}  // namespace terrarium::apiserver
