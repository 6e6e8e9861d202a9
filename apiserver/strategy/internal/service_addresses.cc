// clusterIP, clusterIPs, ipFamilies and ipFamilyPolicy: how they must fit together and what of them may
// change.

#include <algorithm>
#include <set>

#include "apiserver/strategy/internal/checks.h"
#include "apiserver/strategy/internal/ip.h"
#include "apiserver/strategy/internal/service_allocation.h"
#include "apiserver/strategy/internal/service_validation.h"

namespace terrarium::apiserver::strategy {
namespace {

// A list of addresses or families may grow at its end and shrink to one; its first value never changes.
struct ListWords {
  std::string_view key;
  std::string_view unset;      // the message when the first value is removed
  std::string_view releasing;  // what is released when the list shrinks to one
};

void FirstIsKept(FieldErrors& errors, const Json& spec, const Json& old_spec, const ListWords& words) {
  const Json& now = ListAt(spec, words.key);
  const Json& before = ListAt(old_spec, words.key);
  const Path path = Path("spec").Child(words.key);
  if (now.size() == before.size()) {
    for (std::size_t i = 0; i < now.size(); ++i) {
      if (now[i] != before[i])
        errors.push_back(api::InvalidError(path.Index(i), now, "may not change once set"));
    }
    return;
  }
  if (now.size() < before.size() && now.empty()) {
    errors.push_back(api::InvalidError(path.Index(0), now, words.unset));
  }
  if (!now.empty() && !before.empty() && now[0] != before[0]) {
    errors.push_back(api::InvalidError(path.Index(0), now, "may not change once set"));
  }
  if (now.size() < before.size() && now.size() == 1 && StringAt(spec, "ipFamilyPolicy") != "SingleStack") {
    const Json* policy = Find(spec, "ipFamilyPolicy");
    errors.push_back(api::InvalidError(
        Path("spec").Child("ipFamilyPolicy"), policy == nullptr ? Json() : *policy,
        "must be set to 'SingleStack' when releasing the secondary " + std::string(words.releasing)));
  }
}

void Families(FieldErrors& errors, const Json& spec, const Path& path) {
  std::set<std::string> seen;
  const Json& families = ListAt(spec, "ipFamilies");
  for (std::size_t i = 0; i < families.size(); ++i) {
    const std::string& family = families[i].get_ref<const std::string&>();
    OneOf(errors, path.Child("ipFamilies").Index(i), family, {"IPv4", "IPv6"});
    if (!seen.insert(family).second) {
      errors.push_back(api::DuplicateError(path.Child("ipFamilies").Index(i), family));
    }
  }
  if (Find(spec, "ipFamilyPolicy") != nullptr) {
    OneOf(errors, path.Child("ipFamilyPolicy"), StringAt(spec, "ipFamilyPolicy"),
          {"PreferDualStack", "RequireDualStack", "SingleStack"});
  }
}

// False if an address is malformed; later checks are then skipped.
bool Addresses(FieldErrors& errors, const Json& addresses, const Json& old_addresses, const Path& path) {
  const std::size_t before = errors.size();
  const Texts old_texts = TextsOf(old_addresses);
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const std::string& address = addresses[i].get_ref<const std::string&>();
    if (i != 0 || address != "None") {
      ValidIp(errors, address, old_texts, path.Index(i));
    } else if (addresses.size() > 1) {
      errors.push_back(api::InvalidError(path, addresses, "'None' must be the first and only value"));
    }
  }
  const bool valid = errors.size() == before;
  if (addresses.size() > 2)
    errors.push_back(api::InvalidError(path, addresses, "may only hold up to 2 values"));
  return valid;
}

void AddressFamilies(FieldErrors& errors, const Json& service, const Path& path) {
  const Json& addresses = ListAt(service, "spec", "clusterIPs");
  const Json& families = ListAt(service, "spec", "ipFamilies");
  const auto family = [&](std::size_t i) { return FamilyOf(addresses[i].get_ref<const std::string&>()); };
  if (addresses.size() > 1 && (addresses.size() > 2 || family(0) == family(1))) {
    errors.push_back(
        api::InvalidError(path, addresses, "may specify no more than one IP for each IP family"));
  }
  if (IsHeadless(service)) return;
  for (std::size_t i = 0; i < std::min(addresses.size(), families.size()); ++i) {
    const std::string& wanted = families[i].get_ref<const std::string&>();
    if (wanted == family(i)) continue;
    errors.push_back(api::InvalidError(
        path.Index(i), addresses[i],
        "expected an " + wanted + " value as indicated by `ipFamilies[" + std::to_string(i) + "]`"));
  }
}

}  // namespace

FieldErrors ValidateClusterIps(const Json& service, const Json* old) {
  FieldErrors errors;
  const Json& spec = ObjectAt(service, "spec");
  if (StringAt(spec, "type") == "ExternalName") return errors;
  const Path path = Path("spec").Child("clusterIPs");
  const std::string_view address = StringAt(spec, "clusterIP");
  const Json& addresses = ListAt(spec, "clusterIPs");
  if (address.empty()) {
    if (!addresses.empty()) {
      errors.push_back(api::InvalidError(path, addresses, "must be empty when `clusterIP` is not specified"));
    }
  } else if (addresses.empty()) {
    errors.push_back(api::RequiredError(path));
  } else if (addresses[0] != address) {
    errors.push_back(api::InvalidError(path, addresses, "first value must match `clusterIP`"));
  }
  Families(errors, spec, Path("spec"));
  const Json& old_addresses = old == nullptr ? api::EmptyList() : ListAt(*old, "spec", "clusterIPs");
  if (Addresses(errors, addresses, old_addresses, path)) AddressFamilies(errors, service, path);
  return errors;
}

FieldErrors ValidateServiceChanges(const Json& service, const Json& old) {
  FieldErrors errors;
  const Json& spec = ObjectAt(service, "spec");
  const Json& old_spec = ObjectAt(old, "spec");
  const std::string_view type = StringAt(spec, "type");
  const std::string_view old_type = StringAt(old_spec, "type");
  if (type != "ExternalName" && old_type != "ExternalName") {
    const bool headless = IsHeadless(service);
    const bool was_headless = IsHeadless(old);
    if (!headless || !was_headless) {
      FirstIsKept(
          errors, spec, old_spec,
          {.key = "clusterIPs", .unset = "primary clusterIP can not be unset", .releasing = "clusterIP"});
    }
    if (!headless && !was_headless) {
      FirstIsKept(
          errors, spec, old_spec,
          {.key = "ipFamilies", .unset = "primary ipFamily can not be unset", .releasing = "ipFamily"});
    }
  }
  if (type == "LoadBalancer" && old_type == "LoadBalancer" &&
      StringAt(spec, "loadBalancerClass") != StringAt(old_spec, "loadBalancerClass")) {
    const Json* now = Find(spec, "loadBalancerClass");
    errors.push_back(api::InvalidError(Path("spec").Child("loadBalancerClass"),
                                       now == nullptr ? Json() : *now, "may not change once set"));
  }
  if (NeedsHealthCheckPort(service) && NeedsHealthCheckPort(old) &&
      IntAt(spec, 0, "healthCheckNodePort") != IntAt(old_spec, 0, "healthCheckNodePort")) {
    errors.push_back(api::ForbiddenError(Path("spec").Child("healthCheckNodePort"), "field is immutable"));
  }
  return errors;
}

}  // namespace terrarium::apiserver::strategy
