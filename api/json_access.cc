#include "api/json_access.h"

namespace terrarium::api {

const Json& EmptyObject() {
  static const Json kEmpty = Json::object();
  return kEmpty;
}

const Json& EmptyList() {
  static const Json kEmpty = Json::array();
  return kEmpty;
}

}  // namespace terrarium::api
