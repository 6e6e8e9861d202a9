#include "testbed/cli/kubeconfig.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

#include "api/base/errors.h"
#include "api/codec/yaml.h"
#include "api/json_access.h"

namespace terrarium::testbed {
namespace {

// The item of that name in a list of a kubeconfig: its member `inside`.
const api::Json& NamedIn(const api::Json& config, const char* list, std::string_view name, const char* inside) {
  for (const api::Json& item : api::ListAt(config, list))
    if (api::StringAt(item, "name") == name) return api::ObjectAt(item, inside);
  return api::EmptyObject();
}

}  // namespace

std::string MakeKubeconfig(const KubeconfigOptions& options) {
  api::Json cluster = {{"server", options.url}};
  if (!options.certificate_authority.empty()) cluster["certificate-authority"] = options.certificate_authority;
  // The JavaScript client talks plain HTTP only when told that it need not verify anything.
  if (options.url.starts_with("http://")) cluster["insecure-skip-tls-verify"] = true;
  api::Json user = api::Json::object();
  if (!options.token.empty()) user["token"] = options.token;
  const std::string& name = options.name;
  return api::WriteYaml({{"apiVersion", "v1"},
                         {"kind", "Config"},
                         {"clusters", {{{"name", name}, {"cluster", std::move(cluster)}}}},
                         {"users", {{{"name", name}, {"user", std::move(user)}}}},
                         {"contexts", {{{"name", name}, {"context", {{"cluster", name}, {"user", name}}}}}},
                         {"current-context", name}});
}

api::Result<KubeconfigOptions> ReadKubeconfig(const std::string& path) {
  const std::string file = path.substr(0, path.find(':'));
  std::ifstream in(file, std::ios::binary);
  if (!in) return api::BadRequest("cannot read " + file);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  std::string error;
  auto document = api::ParseYaml(text, &error);
  if (!document) return api::BadRequest(file + ": " + error);
  const api::Json& config = document->value;
  const api::Json& context = NamedIn(config, "contexts", api::StringAt(config, "current-context"), "context");
  KubeconfigOptions out;
  out.url = api::StringAt(NamedIn(config, "clusters", api::StringAt(context, "cluster"), "cluster"), "server");
  out.token = api::StringAt(NamedIn(config, "users", api::StringAt(context, "user"), "user"), "token");
  if (out.url.empty()) return api::BadRequest(file + " has no current context with a server");
  return out;
}

api::Result<bool> WriteFile(const std::string& path, const std::string& text) {
  std::string temporary = path + ".tmp";
  int fd = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR);
  bool written = fd >= 0 && write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  int error = errno;
  if (fd >= 0) close(fd);
  // Whoever waits for the file sees it only when it is complete.
  if (written && std::rename(temporary.c_str(), path.c_str()) == 0) return true;
  if (written) error = errno;
  return api::BadRequest("cannot write " + path + ": " + std::strerror(error));
}

}  // namespace terrarium::testbed
