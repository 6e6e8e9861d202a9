#pragma once

#include "api/object.h"
#include "apiserver/resource_table.h"

namespace terrarium::apiserver {

// The header of a document: what lists, watches and selectors ask without parsing it.
api::ObjectHeader DeriveHeader(const ResourceInfo& resource, const Json& document);
// The same by storage name, for a store that loads objects from disk. REQUIRES: a served storage name.
api::ObjectHeader DeriveHeaderOfStored(std::string_view storage, const Json& document);

}  // namespace terrarium::apiserver
