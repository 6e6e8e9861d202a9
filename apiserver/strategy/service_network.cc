// The addresses of Services as objects: ServiceCIDR and IPAddress.

#include "apiserver/strategies.h"
#include "apiserver/strategy/internal/ip.h"
#include "apiserver/strategy/internal/plain_kind.h"

namespace terrarium::apiserver {
namespace {

using namespace strategy;  // NOLINT: the helpers of this folder

constexpr std::string_view kImmutable = "field is immutable";

std::vector<std::string> NameIsIp(std::string_view name, bool /*prefix*/) {
  constexpr std::string_view kMessage = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
  if (!IsValidIp(name, Path()).empty() || !IpFamily(name)) return {std::string(kMessage)};
  if (!IpWarnings(name, Path()).empty()) return {"must be in canonical form"};
  return {};
}

void CheckSegment(const Json& ref, std::string_view field, bool required, const Path& path,
                  FieldErrors& errors) {
  const std::string_view text = StringAt(ref, field);
  if (!text.empty())
    AddInvalid(IsValidPathSegmentName(text), text, path.Child(field), errors);
  else if (required)
    errors.push_back(api::RequiredError(path.Child(field)));
}

class IpAddress final : public PlainKind {
 public:
  IpAddress() : PlainKind({.name_rule = NameIsIp}) {}

 private:
  void Check(const Json& object, const Json* old, FieldErrors& errors) const override {
    const Path path("spec.parentRef");
    const Json* parent = Find(object, "spec", "parentRef");
    if (old != nullptr) {
      api::Append(errors, ValidateImmutable(parent, Find(*old, "spec", "parentRef"), path));
      return;
    }
    if (parent == nullptr) {
      errors.push_back(api::RequiredError(path));
      return;
    }
    if (const std::string_view group = StringAt(*parent, "group"); !group.empty())
      AddInvalid(IsDns1123Subdomain(group), group, path.Child("group"), errors);
    CheckSegment(*parent, "resource", true, path, errors);
    CheckSegment(*parent, "name", true, path, errors);
    CheckSegment(*parent, "namespace", false, path, errors);
  }
};

void CheckRanges(const Json& ranges, const Path& path, FieldErrors& errors) {
  if (ranges.empty()) {
    errors.push_back(api::RequiredError(path, "at least one CIDR required"));
    return;
  }
  if (ranges.size() > 2) {
    errors.push_back(api::InvalidError(path, {{"CIDRs", ranges}}, "may only hold up to 2 values"));
    return;
  }
  for (std::size_t i = 0; i < ranges.size(); ++i)
    ValidCidr(errors, ranges[i].get_ref<const std::string&>(), {}, path.Index(i));
  if (ranges.size() == 2 &&
      FamilyOf(ranges[0].get_ref<const std::string&>()) == FamilyOf(ranges[1].get_ref<const std::string&>()))
    errors.push_back(api::InvalidError(
        path, ranges,
        "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"));
}

class ServiceCidr final : public PlainKind {
 public:
  ServiceCidr() : PlainKind({.status = true}) {}

 private:
  void Check(const Json& object, const Json* old, FieldErrors& errors) const override {
    const Path path("spec.cidrs");
    const Json& ranges = ListAt(object, "spec", "cidrs");
    if (old == nullptr) return CheckRanges(ranges, path, errors);
    const Json& before = ListAt(*old, "spec", "cidrs");
    // A cluster may become dual-stack: a second range may be added.
    const bool extended = before.size() == 1 && ranges.size() == 2;
    if (before.size() != ranges.size() && !extended) {
      errors.push_back(api::InvalidError(path, ranges, kImmutable));
      return;
    }
    for (std::size_t i = 0; i < before.size(); ++i)
      if (before[i] != ranges[i]) errors.push_back(api::InvalidError(path.Index(i), ranges[i], kImmutable));
    if (extended) CheckRanges(ranges, path, errors);
  }
};

}  // namespace

const Strategy& IpAddressStrategy() {
  static const IpAddress strategy;
  return strategy;
}

const Strategy& ServiceCidrStrategy() {
  static const ServiceCidr strategy;
  return strategy;
}

}  // namespace terrarium::apiserver
