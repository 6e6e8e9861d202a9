#pragma once

// The status of a claim whose volume grows or gets another VolumeAttributesClass, step by step.

#include <optional>
#include <string>

#include "api/base/clock.h"
#include "api/core_v1/volume_binding.h"
#include "api/json.h"

namespace terrarium::controllers::volume_driver {

// The size that a bound claim asks for and has not got; nullopt: none.
std::optional<std::string> WantedSize(const api::Json& claim);
// The status while the volume grows to that size.
api::Json GrowingStatus(const api::Json& claim, const std::string& size, api::Time now);
// The status when it has.
api::Json GrownStatus(const api::Json& claim, const std::string& size);

// The VolumeAttributesClass that a bound claim asks for and has not got; nullopt: none.
std::optional<std::string> WantedAttributesClass(const api::Json& claim);

}  // namespace terrarium::controllers::volume_driver
