#pragma once

// The text of stored documents, written and read several times as fast as the library does it in general: objects are
// made of short plain strings and integers, and what is read here was written here.

#include <string>
#include <string_view>

#include "api/json.h"

namespace terrarium::api {

// Appends the value as compact JSON, the same bytes that dump() gives. Text that is no UTF-8 is replaced as Go's encoder
// does rather than refused.
void AppendJson(const Json& value, std::string& out);

// Reads what AppendJson has written. REQUIRES: `text` is valid JSON.
Json ReadJson(std::string_view text);

// Destroys a document: the library's own way moves every member through a list first.
void Discard(Json& document);

}  // namespace terrarium::api
