#include "testbed/cli/kubeconfig.h"

#include <fstream>
#include <iterator>

#include "api/base/base64.h"
#include "api/base/errors.h"
#include "api/codec/yaml.h"
#include "api/json_access.h"

namespace terrarium::testbed {
namespace {

// The item of that name in a list of a kubeconfig: its member `inside`.
const api::Json& NamedIn(const api::Json& config, const char* list, std::string_view name,
                         const char* inside) {
  for (const api::Json& item : api::ListAt(config, list))
    if (api::StringAt(item, "name") == name) return api::ObjectAt(item, inside);
  return api::EmptyObject();
}

// `name`-data in base64, or else the file that `name` names, from the kubeconfig's folder on. Empty without
// both.
api::Result<std::string> DataOrFile(const api::Json& object, const std::string& name,
                                    const std::string& folder) {
  const std::string_view data = api::StringAt(object, name + "-data");
  if (!data.empty()) {
    std::string bytes;
    if (!api::DecodeBase64(data, &bytes)) return api::BadRequest(name + "-data is not base64");
    return bytes;
  }
  const std::string file(api::StringAt(object, name));
  if (file.empty()) return std::string();
  return ReadText(file.starts_with('/') ? file : folder + file);
}

}  // namespace

std::string MakeKubeconfig(const KubeconfigOptions& options) {
  api::Json cluster = {{"server", options.url}};
  if (!options.certificate_authority.empty())
    cluster["certificate-authority"] = options.certificate_authority;
  // The JavaScript client uses plain HTTP only where it need not verify anything.
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

api::Result<std::string> ReadText(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return api::BadRequest("cannot read " + file);
  return std::string{std::istreambuf_iterator<char>(in), {}};
}

api::Result<ServerAccess> ReadKubeconfig(const std::string& path) {
  const std::string file = path.substr(0, path.find(':'));
  auto text = ReadText(file);
  if (!text) return text.status();
  std::string error;
  auto document = api::ParseYaml(*text, &error);
  if (!document) return api::BadRequest(file + ": " + error);
  const api::Json& config = document->value;
  const api::Json& context = NamedIn(config, "contexts", api::StringAt(config, "current-context"), "context");
  const api::Json& cluster = NamedIn(config, "clusters", api::StringAt(context, "cluster"), "cluster");
  const api::Json& user = NamedIn(config, "users", api::StringAt(context, "user"), "user");
  const std::string folder = file.substr(0, file.rfind('/') + 1);
  for (const char* unsupported : {"exec", "auth-provider", "username"})
    if (api::Find(user, unsupported) != nullptr)
      return api::BadRequest(file + ": a user with " + unsupported +
                             " is not supported, only one with a token or a client certificate");
  ServerAccess out;
  out.url = api::StringAt(cluster, "server");
  if (out.url.empty()) return api::BadRequest(file + " has no current context with a server");
  out.skip_tls_verify = api::BoolAt(cluster, "insecure-skip-tls-verify");
  out.tls_server_name = api::StringAt(cluster, "tls-server-name");
  out.token = api::StringAt(user, "token");
  struct {
    const api::Json& object;
    const char* name;
    std::string& out;
  } parts[] = {{cluster, "certificate-authority", out.ca_pem},
               {user, "client-certificate", out.client_certificate_pem},
               {user, "client-key", out.client_key_pem}};
  for (auto& part : parts) {
    auto read = DataOrFile(part.object, part.name, folder);
    if (!read) return api::BadRequest(file + ": " + read.status().message);
    part.out = std::move(*read);
  }
  if (out.client_certificate_pem.empty() != out.client_key_pem.empty())
    return api::BadRequest(file + ": client-certificate and client-key go together");
  if (out.skip_tls_verify && !out.ca_pem.empty())
    return api::BadRequest(file + ": certificate-authority and insecure-skip-tls-verify exclude each other");
  // As in kubectl, the file wins over a token beside it.
  if (const std::string token_file(api::StringAt(user, "tokenFile")); !token_file.empty()) {
    auto read = ReadText(token_file.starts_with('/') ? token_file : folder + token_file);
    if (!read) return api::BadRequest(file + ": " + read.status().message);
    out.token = read->substr(0, read->find_last_not_of(" \t\r\n") + 1);
  }
  return out;
}

}  // namespace terrarium::testbed
