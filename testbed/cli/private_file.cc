#include "testbed/cli/private_file.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/base/errors.h"

namespace terrarium::testbed {
namespace {

constexpr const char* kRandomEnding = "XXXXXX";  // for mkstemp and mkdtemp

// 0, or errno.
int WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    ssize_t count = write(fd, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return 0;
}

bool OnlyWeCanWrite(const std::string& folder) {
  struct stat found {};
  if (lstat(folder.c_str(), &found) != 0) return false;
  return S_ISDIR(found.st_mode) && found.st_uid == geteuid() && (found.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

api::Result<void> WritePrivateFile(const std::string& path, const std::string& text) {
  auto failed = [&path](const char* why) { return api::BadRequest("cannot write " + path + ": " + why); };
  struct stat found {};
  // To rename over a device or a pipe would replace it for the whole machine.
  if (stat(path.c_str(), &found) == 0 && !S_ISREG(found.st_mode)) return failed("not a regular file");
  std::string temporary = path + "." + kRandomEnding;
  int fd = mkostemp(temporary.data(), O_CLOEXEC);  // 0600, and never a file that is there
  if (fd < 0) return failed(std::strerror(errno));
  int error = WriteAll(fd, text);
  if (close(fd) != 0 && error == 0) error = errno;
  // A reader that waits for the file sees it only when it is complete.
  if (error == 0 && std::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return {};
  unlink(temporary.c_str());
  return failed(std::strerror(error));
}

api::Result<std::string> PrivateFolder() {
  if (std::string folder = Variable("XDG_RUNTIME_DIR"); folder.starts_with('/') && OnlyWeCanWrite(folder))
    return folder;
  std::string base = Variable("TMPDIR");
  if (!base.starts_with('/')) base = "/tmp";
  // The same folder each time, so that files do not pile up, unless another user has taken the name.
  std::string folder = base + "/terrarium-" + std::to_string(geteuid());
  if ((mkdir(folder.c_str(), S_IRWXU) == 0 || errno == EEXIST) && OnlyWeCanWrite(folder)) return folder;
  folder = base + "/terrarium-" + kRandomEnding;
  if (mkdtemp(folder.data()) != nullptr) return folder;
  return api::BadRequest("cannot create a folder in " + base + ": " + std::strerror(errno));
}

}  // namespace terrarium::testbed
