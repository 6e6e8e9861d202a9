#pragma once

#include <map>
#include <string>
#include <string_view>

namespace terrarium::wire {

// Puts values in the place of names: the word NS, {name} for what '@save name' kept, {repeat:x:3} for xxx.
// Other text in braces stays. False when a {name} has no value; *out is then that name.
bool Substitute(std::string_view text, const std::string& ns, const std::map<std::string, std::string>& saved,
                std::string* out);

}  // namespace terrarium::wire
