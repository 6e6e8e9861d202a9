#pragma once

#include <string>

#include "api/json.h"

namespace terrarium::controllers {

// A metav1.LabelSelector as Go prints it in messages; nullptr: none.
std::string GoText(const api::Json* selector);

}  // namespace terrarium::controllers
