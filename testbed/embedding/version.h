#pragma once

namespace terrarium::testbed {

// CMakeLists.txt reads the project's version from this line.
inline constexpr const char* kVersion = "0.1.0";
inline constexpr const char* kKubernetesVersion = "1.36";

}  // namespace terrarium::testbed
