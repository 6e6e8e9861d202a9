#include "testbed/cli/why.h"

#include <cstdio>
#include <cstdlib>
#include <set>
#include <vector>

#include <CLI/CLI.hpp>

#include "api/base/errors.h"
#include "api/json.h"
#include "api/json_access.h"
#include "testbed/cli/http_get.h"
#include "testbed/cli/kubeconfig.h"
#include "testbed/scenario/target.h"

namespace terrarium::testbed {
namespace {

using api::Json;
using api::StringAt;

constexpr const char* kDefaultServer = "http://127.0.0.1:8080";

int Fail(int code, const std::string& message) {
  std::fprintf(stderr, "terrarium why: %s\n", message.c_str());
  return code;
}

// "replicasets default/web-5d9c".
std::string ObjectText(const Json& record) {
  std::string out(StringAt(record, "resource"));
  const std::string_view ns = StringAt(record, "namespace");
  return out + " " + (ns.empty() ? "" : std::string(ns) + "/") + std::string(StringAt(record, "name"));
}

// The records about an object and about everything made, scaled or deleted on its behalf, and so on down.
Json StoryOf(const Json& records, const std::string& object) {
  std::set<std::string> concerned{object};
  Json story = Json::array();
  // Owners act before what they own, so one pass in the order of time finds all.
  for (const Json& record : records) {
    const Json* owner = api::Find(record, "owner");
    const std::string about = ObjectText(record);
    if (!concerned.contains(about) && (owner == nullptr || !concerned.contains(ObjectText(*owner)))) continue;
    concerned.insert(about);
    story.push_back(record);
  }
  return story;
}

std::string SawText(const Json& saw) {
  std::string out;
  for (const auto& [name, value] : saw.items())
    out += (out.empty() ? "" : ", ") + name + " " +
           (value.is_string() ? value.get<std::string>() : value.dump());
  return out;
}

void Print(const Json& record) {
  std::string head(StringAt(record, "time"));
  head += "  revision " + std::to_string(api::IntAt(record, 0, "revision")) + "  " +
          std::string(StringAt(record, "controller")) + ": " + std::string(StringAt(record, "action")) + " " +
          ObjectText(record);
  if (const Json* owner = api::Find(record, "owner")) head += " for " + ObjectText(*owner);
  std::printf("%s\n  because  %s\n", head.c_str(), std::string(StringAt(record, "rule")).c_str());
  if (const Json* saw = api::Find(record, "saw")) std::printf("  saw      %s\n", SawText(*saw).c_str());
}

// The flags win over the kubeconfig, which is --kubeconfig's or, without --server, KUBECONFIG's.
api::Result<ServerAccess> ServerOf(const WhyFlags& flags) {
  ServerAccess out;
  std::string file = flags.kubeconfig;
  if (const char* named = std::getenv("KUBECONFIG"); file.empty() && flags.server.empty() && named != nullptr)
    file = named;
  if (!file.empty()) {
    auto read = ReadKubeconfig(file);
    if (!read) return read.status();
    out = std::move(*read);
  }
  if (!flags.server.empty()) out.url = flags.server;
  if (out.url.empty()) out.url = kDefaultServer;
  if (!flags.token.empty()) out.token = flags.token;
  if (!flags.certificate_authority.empty()) {
    auto read = ReadText(flags.certificate_authority);
    if (!read) return read.status();
    if (read->empty()) return api::BadRequest(flags.certificate_authority + " is empty");
    out.ca_pem = std::move(*read);
    out.skip_tls_verify = false;
  }
  if (flags.skip_tls_verify) {
    out.ca_pem.clear();
    out.skip_tls_verify = true;
  }
  return out;
}

}  // namespace

void AddWhyFlags(CLI::App& app, WhyFlags& flags) {
  app.add_option("OBJECT", flags.object, "KIND/NAME, like deployment/web")->required();
  app.add_option("--server", flags.server,
                 "the server's URL, http:// or https:// (default: KUBECONFIG's, or http://127.0.0.1:8080)");
  app.add_option("--kubeconfig", flags.kubeconfig,
                 "a kubeconfig that names the server, its authority, and a token or client certificate");
  app.add_option("--token", flags.token, "the bearer token to send");
  auto* authority = app.add_option("--certificate-authority", flags.certificate_authority,
                                   "PEM authorities to trust instead of the system's");
  app.add_flag("--insecure-skip-tls-verify", flags.skip_tls_verify, "accept every certificate")
      ->excludes(authority);
  app.add_option("-n,--namespace", flags.ns, "the object's namespace")->capture_default_str();
  app.add_option("-o,--output", flags.output, "text, or json: the records as the server has them")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  app.footer(
      "Prints why the object, and everything on its behalf (a Deployment's ReplicaSets and their pods), was\n"
      "created, deleted or scaled, oldest first, each with the rule that applied and the numbers behind it.\n"
      "The server keeps the newest 10,000 records.");
}

int RunWhy(const WhyFlags& flags) {
  auto object = scenario::ParseKindAndName(flags.object);
  if (!object) return Fail(2, object.status().message);
  if (object->name.empty()) return Fail(2, flags.object + " is a kind: write KIND/NAME");
  auto server = ServerOf(flags);
  if (!server) return Fail(2, server.status().message);
  auto answer = HttpGet(*server, "/terrarium/v1/why");
  if (!answer) return Fail(1, answer.status().message);
  const Json body = Json::parse(answer->body, nullptr, false);
  if (answer->code != 200 || !body.is_object()) {
    const std::string message(body.is_object() ? StringAt(body, "message") : std::string_view());
    return Fail(1, server->url + " answers " + std::to_string(answer->code) +
                       (message.empty() ? "" : ": " + message));
  }
  const std::string ns = object->resource->namespaced ? flags.ns + "/" : "";
  const std::string name = std::string(object->resource->storage) + " " + ns + object->name;
  const Json story = StoryOf(api::ListAt(body, "records"), name);
  if (flags.output == "json") {
    std::printf("%s\n", Json({{"records", story}}).dump(2).c_str());
    return 0;
  }
  if (story.empty())
    std::printf("no controller is known to have done anything to %s, or on its behalf\n", name.c_str());
  for (const Json& record : story) Print(record);
  return 0;
}

}  // namespace terrarium::testbed
