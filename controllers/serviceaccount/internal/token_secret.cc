#include "controllers/serviceaccount/internal/token_secret.h"

#include <algorithm>

#include "api/base/base64.h"
#include "api/json_access.h"

namespace terrarium::controllers::serviceaccount {
namespace {

using api::Json;
using api::StringAt;

// base64url without padding, as in a JSON web token.
std::string EncodeSegment(const Json& segment) {
  std::string out = api::EncodeBase64(segment.dump());
  std::replace(out.begin(), out.end(), '+', '-');
  std::replace(out.begin(), out.end(), '/', '_');
  std::erase(out, '=');
  return out;
}

}  // namespace

std::optional<AccountReference> AccountOf(const Json& secret) {
  AccountReference account{std::string(StringAt(secret, "metadata", "annotations", kAccountName)),
                           std::string(StringAt(secret, "metadata", "annotations", kAccountUid))};
  if (StringAt(secret, "type") != kTokenType || account.name.empty()) return std::nullopt;
  return account;
}

std::optional<Json> FilledIn(const Json& secret, std::string_view account_uid,
                             const std::string& certificates) {
  const Json& data = api::ObjectAt(secret, "data");
  const std::string encoded = api::EncodeBase64(certificates);
  const bool needs_ca = !certificates.empty() && StringAt(data, "ca.crt") != encoded;
  const bool needs_namespace = StringAt(data, "namespace").empty();
  const bool needs_token = StringAt(data, "token").empty();
  if (!needs_ca && !needs_namespace && !needs_token) return std::nullopt;
  Json filled = secret;
  const std::string ns(StringAt(secret, "metadata", "namespace"));
  if (needs_ca) filled["data"]["ca.crt"] = encoded;
  if (needs_namespace) filled["data"]["namespace"] = api::EncodeBase64(ns);
  if (needs_token)
    filled["data"]["token"] = api::EncodeBase64(
        UnsignedToken(ns, StringAt(secret, "metadata", "name"),
                      StringAt(secret, "metadata", "annotations", kAccountName), account_uid));
  filled["metadata"]["annotations"][kAccountUid] = account_uid;
  return filled;
}

std::string UnsignedToken(std::string_view ns, std::string_view secret, std::string_view account,
                          std::string_view account_uid) {
  const std::string claim = "kubernetes.io/serviceaccount/";
  const Json claims = {
      {"iss", "kubernetes/serviceaccount"},
      {claim + "namespace", ns},
      {claim + "secret.name", secret},
      {claim + "service-account.name", account},
      {claim + "service-account.uid", account_uid},
      {"sub", "system:serviceaccount:" + std::string(ns) + ":" + std::string(account)},
  };
  return EncodeSegment({{"alg", "none"}, {"typ", "JWT"}}) + "." + EncodeSegment(claims) + ".";
}

}  // namespace terrarium::controllers::serviceaccount
