#include "apiserver/request.h"

namespace terrarium::apiserver {

const std::string* Request::Query(std::string_view name) const {
  for (const auto& [key, value] : query)
    if (key == name) return &value;
  return nullptr;
}

}  // namespace terrarium::apiserver
