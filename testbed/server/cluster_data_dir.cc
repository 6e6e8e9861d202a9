#include "testbed/server/cluster_data_dir.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

#include <sys/stat.h>

#include "api/base/errors.h"

namespace terrarium::testbed {
namespace {

// SQLite keeps these beside FILE while it is in use.
constexpr std::string_view kSideFiles[] = {"-wal", "-shm", "-journal"};

api::Status Refused(const std::string& name, const std::string& why) {
  return api::BadRequest("data: " + api::Quote(name) + ": " + why);
}

}  // namespace

api::Result<ClusterDataDir> ClusterDataDir::Open(const std::string& folder) {
  std::unique_ptr<char, void (*)(void*)> real(realpath(folder.c_str(), nullptr), std::free);
  if (real == nullptr) return api::BadRequest(folder + ": " + std::strerror(errno));
  struct stat found {};
  if (stat(real.get(), &found) != 0) return api::BadRequest(folder + ": " + std::strerror(errno));
  if (!S_ISDIR(found.st_mode)) return api::BadRequest(folder + ": not a folder");
  return ClusterDataDir(real.get());
}

api::Result<std::string> ClusterDataDir::Resolve(const std::string& name) const {
  if (folder_.empty())
    return api::BadRequest(
        "data: the server was started without --cluster-data-dir, the folder for such files");
  if (name.starts_with('/')) return Refused(name, "must be relative to the folder of --cluster-data-dir");
  std::string path = folder_;
  std::string_view rest = name;
  for (bool last = false; !last;) {
    std::string_view part = rest.substr(0, rest.find('/'));
    last = part.size() == rest.size();
    rest.remove_prefix(part.size() + (last ? 0 : 1));
    if (part.empty() || part == "." || part == "..")
      return Refused(name, "must not contain \"\", \".\" or \"..\"");
    if (part.find('\0') != std::string_view::npos) return Refused(name, "must not contain a NUL character");
    path.append("/").append(part);
    struct stat found {};
    if (lstat(path.c_str(), &found) != 0) {
      if (last && errno == ENOENT) break;
      return Refused(name, std::strerror(errno));
    }
    if (S_ISLNK(found.st_mode)) return Refused(name, "must not contain a symbolic link");
    if (!last && !S_ISDIR(found.st_mode)) return Refused(name, "not a folder: " + std::string(part));
    if (last && !S_ISREG(found.st_mode)) return Refused(name, "not a regular file");
  }
  for (std::string_view side : kSideFiles)
    if (name.ends_with(side))
      return Refused(name, "SQLite needs names that end in " + std::string(side) + " itself");
  return path;
}

}  // namespace terrarium::testbed
