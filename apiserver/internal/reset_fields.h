#pragma once

#include "api/apply/field_set.h"
#include "apiserver/resource_table.h"

namespace terrarium::apiserver {

// The fields that the server resets in every write to the resource, or to the subresource if it is not
// nullptr. Clients of that endpoint do not own them.
api::FieldSetPtr ResetFieldsOf(const ResourceInfo& resource, const SubresourceInfo* subresource);

// Whether an update of the status leaves the metadata as it is, too.
bool StatusKeepsMetadata(const ResourceInfo& resource);

}  // namespace terrarium::apiserver
