#pragma once

namespace terrarium::testbed {

inline constexpr const char* kVersion = "0.1.0";
inline constexpr const char* kKubernetesVersion = "1.36";

}  // namespace terrarium::testbed
