#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "api/base/field_error.h"
#include "api/json.h"
#include "apiserver/warning_list.h"

namespace terrarium::apiserver {

using Warnings = WarningList;

// "<path>: <parts>".
void AddWarning(Warnings& out, const api::Path& path, std::initializer_list<std::string_view> parts);

// Discontinued volume sources, and files of one volume that hide each other.
void WarnVolumes(const api::Json& spec, const api::Path& spec_path, Warnings& out);
// Ports of a pod's containers that are the same or overlap.
void WarnPorts(const api::Json& spec, const api::Path& spec_path, Warnings& out);

}  // namespace terrarium::apiserver
