#pragma once

#include "api/object.h"
#include "apiserver/resource_table.h"

namespace terrarium::apiserver {

// The header of a document with the values of the resource's selectable fields.
api::ObjectHeader DeriveHeader(const ResourceInfo& resource, const Json& document);
// The same by storage name, for a store that loads objects from disk. Of a resource that is not built in, the
// header has no selectable fields.
api::ObjectHeader DeriveHeaderOfStored(std::string_view storage, const Json& document);

}  // namespace terrarium::apiserver
