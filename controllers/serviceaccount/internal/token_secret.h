#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/json.h"

namespace terrarium::controllers::serviceaccount {

inline constexpr const char* kTokenType = "kubernetes.io/service-account-token";
inline constexpr const char* kAccountName = "kubernetes.io/service-account.name";
inline constexpr const char* kAccountUid = "kubernetes.io/service-account.uid";

// The account that a token Secret is for.
struct AccountReference {
  std::string name;
  std::string uid;  // empty: of any account of that name
};
// nullopt: the Secret is of another type or names no account.
std::optional<AccountReference> AccountOf(const api::Json& secret);

// The Secret with what it lacks: certificates, namespace, token. nullopt: nothing.
std::optional<api::Json> FilledIn(const api::Json& secret, std::string_view account_uid,
                                  const std::string& certificates);

// A JSON web token with the claims of a legacy token, without a signature.
std::string UnsignedToken(std::string_view ns, std::string_view secret, std::string_view account,
                          std::string_view account_uid);

}  // namespace terrarium::controllers::serviceaccount
