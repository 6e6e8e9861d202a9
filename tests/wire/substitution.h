#pragma once

#include <map>
#include <string>
#include <string_view>

namespace terrarium::wire {

// Replaces names by values: the word NS, {name} by the value of '@save name', {repeat:x:3} by xxx. Other text
// in braces stays. False if a {name} has no value; *out is then that name.
bool Substitute(std::string_view text, const std::string& ns, const std::map<std::string, std::string>& saved,
                std::string* out);

}  // namespace terrarium::wire
