#include "apiserver/request.h"

#include "apiserver/internal/media_type.h"

namespace terrarium::apiserver {

const std::string* Request::Query(std::string_view name) const {
  for (const auto& [key, value] : query)
    if (key == name) return &value;
  return nullptr;
}

std::string_view Request::MediaType() const { return MediaTypeOf(content_type); }

}  // namespace terrarium::apiserver
