#pragma once

// One builder for each kind of write. The sender awaits the result (Client) or gets it synchronously
// (Testbed).

#include <string>
#include <string_view>

#include "api/client.h"

namespace terrarium::api {

WriteRequest RequestToCreate(std::string_view resource, std::string_view ns, Json object);
// Takes name and namespace from the object.
WriteRequest RequestToUpdate(std::string_view resource, Json object, std::string_view subresource);
WriteRequest RequestToPatch(std::string_view resource, ObjectName name, Json patch,
                            std::string_view subresource, PatchKind kind = PatchKind::kStrategic);
WriteRequest RequestToDelete(std::string_view resource, ObjectName name, const DeleteRequest& options);
// A POST to a subresource: binding, eviction.
WriteRequest RequestToCreateSub(std::string_view resource, ObjectName name, std::string_view subresource,
                                Json body);

}  // namespace terrarium::api
