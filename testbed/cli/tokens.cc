#include "testbed/cli/tokens.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>
#include <vector>

#include "api/base/errors.h"

namespace terrarium::testbed {
namespace {

std::string Trim(const std::string& text) {
  std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

// Fields of a line: commas separate, double quotes keep commas together.
std::vector<std::string> SplitCsv(const std::string& line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (char c : line) {
    if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      fields.emplace_back();
    else
      fields.back() += c;
  }
  for (std::string& field : fields) field = Trim(field);
  return fields;
}

}  // namespace

api::Result<TokenFile> TokenFile::Read(const std::string& path) {
  errno = 0;
  std::ifstream in(path);
  if (!in.good())
    return api::BadRequest("cannot read " + path + ": " +
                           (errno != 0 ? std::strerror(errno) : "unknown error"));
  TokenFile out;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (Trim(line).empty() || Trim(line).front() == '#') continue;
    std::vector<std::string> fields = SplitCsv(line);
    if (fields.size() < 3 || fields[0].empty() || fields[1].empty())
      return api::BadRequest(path + ":" + std::to_string(number) +
                             ": a line must be token,user name,user uid[,\"group,...\"]");
    apiserver::UserInfo user{fields[1], fields[2], {}};
    if (fields.size() > 3)
      for (std::string& group : SplitCsv(fields[3]))
        if (!group.empty()) user.groups.push_back(std::move(group));
    user.groups.emplace_back("system:authenticated");
    if (out.first_.empty()) out.first_ = fields[0];
    out.users_[fields[0]] = std::move(user);
  }
  if (out.users_.empty()) return api::BadRequest(path + ": no tokens");
  return out;
}

std::optional<apiserver::UserInfo> TokenFile::Find(const std::string& token) const {
  auto it = users_.find(token);
  if (it == users_.end()) return std::nullopt;
  return it->second;
}

}  // namespace terrarium::testbed
