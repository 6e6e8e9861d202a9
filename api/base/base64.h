#pragma once

#include <string>
#include <string_view>

namespace terrarium::api {

// Standard alphabet with padding, as Go's base64.StdEncoding.
std::string EncodeBase64(std::string_view bytes);

// Skips line breaks. On failure returns false and sets *bad, if given, to the offset that Go reports.
bool DecodeBase64(std::string_view text, std::string* bytes, std::size_t* bad = nullptr);

}  // namespace terrarium::api
