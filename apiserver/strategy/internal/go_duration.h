#pragma once

#include <string>
#include <string_view>

namespace terrarium::apiserver::strategy {

// "" when the text is a duration that Go reads ("1h30m", "-1.5s", "0"), or Go's words for what is wrong.
std::string GoDurationError(std::string_view text);

}  // namespace terrarium::apiserver::strategy
