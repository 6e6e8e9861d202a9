#include "apiserver/strategy/internal/data_size.h"

#include "apiserver/strategy/internal/checks.h"

namespace terrarium::apiserver::strategy {

std::size_t DecodedSize(const Json& base64) {
  std::size_t characters = 0;
  for (char c : base64.get_ref<const std::string&>()) {
    if (c != '=' && c != '\n' && c != '\r') ++characters;
  }
  return characters * 3 / 4;
}

void KeptWhenImmutable(FieldErrors& errors, const Json& object, const Json& old,
                       std::initializer_list<std::string_view> fields) {
  if (!BoolAt(old, "immutable")) return;
  constexpr const char* kWhy = "field is immutable when `immutable` is set";
  if (!BoolAt(object, "immutable")) errors.push_back(api::ForbiddenError(Path("immutable"), kWhy));
  for (std::string_view field : fields) {
    if (ObjectAt(object, field) != ObjectAt(old, field))
      errors.push_back(api::ForbiddenError(Path(field), kWhy));
  }
}

}  // namespace terrarium::apiserver::strategy
