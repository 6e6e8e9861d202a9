#pragma once

#include <nlohmann/json.hpp>

namespace terrarium::api {

// Every object is a JSON document. Keys come out sorted, so equal documents have equal bytes.
using Json = nlohmann::json;

}  // namespace terrarium::api
