#pragma once

// How the fake volume driver handles the volumes of a StorageClass: the parameters terrarium.dev/... of the
// class. The driver has no other parameters; those of real drivers mean nothing to it.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/clock.h"
#include "api/json.h"

namespace terrarium::api {

// One operation on a volume.
struct VolumeOperation {
  Duration delay{};             // before it is done or fails
  std::string error;            // not empty: it fails with this text
  std::optional<int> failures;  // so many times; nullopt: always

  bool Fails(int failed_before) const { return !error.empty() && (!failures || failed_before < *failures); }
};

struct VolumeScript {
  bool provision = true;  // false: the driver leaves the claims and volumes of the class alone
  VolumeOperation provisioning;
  VolumeOperation deletion;
  VolumeOperation resizing;
  // The volume can be used on the nodes that have the same value of this label as the node that was chosen
  // for it. Empty: on all nodes.
  std::string topology;
};

// Invalid parameters count as absent; admission refuses them.
VolumeScript ReadVolumeScript(const Json& storage_class);

struct ParameterError {
  std::string parameter;
  std::string value;
  std::string why;
};
std::vector<ParameterError> CheckVolumeScript(const Json& parameters);

}  // namespace terrarium::api
