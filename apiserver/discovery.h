#pragma once

// The discovery documents, made from a resource table. Pure functions; every document has kind and
// apiVersion and fits the schema message of its kind, so that callers can encode it in any media type.

#include <optional>
#include <string>
#include <string_view>

#include "api/json.h"
#include "apiserver/resource_table.h"

namespace terrarium::apiserver {

// GET /api. `server_address` is host:port as clients reach it.
api::Json ApiVersionsDocument(std::string_view server_address);
// GET /apis
api::Json ApiGroupListDocument(const ResourceTable& table);
// GET /apis/GROUP. nullopt: no such group.
std::optional<api::Json> ApiGroupDocument(const ResourceTable& table, std::string_view group);
// GET /api/v1 (`group` empty) and /apis/GROUP/VERSION. nullopt: no such group and version.
std::optional<api::Json> ApiResourceListDocument(const ResourceTable& table, std::string_view group,
                                                 std::string_view version);

// Aggregated discovery in `version` v2 or v2beta1 of apidiscovery.k8s.io: the core group alone for /api, the
// named groups for /apis.
api::Json AggregatedDiscoveryDocument(const ResourceTable& table, std::string_view version, bool core);

// GET /version
api::Json VersionDocument();

// The ETag of a document, with its quotes; equal documents have equal tags, in every process.
std::string DiscoveryEtag(const api::Json& document);

}  // namespace terrarium::apiserver
