#include <algorithm>
#include <set>

#include "api/base/base64.h"
#include "apiserver/request.h"
#include "apiserver/strategies.h"
#include "apiserver/strategy/internal/checks.h"

namespace terrarium::apiserver {
namespace {

using namespace strategy;  // NOLINT: the helpers of this folder

constexpr std::string_view kUsages[] = {"any",
                                        "cert sign",
                                        "client auth",
                                        "code signing",
                                        "content commitment",
                                        "crl sign",
                                        "data encipherment",
                                        "decipher only",
                                        "digital signature",
                                        "email protection",
                                        "encipher only",
                                        "ipsec end system",
                                        "ipsec tunnel",
                                        "ipsec user",
                                        "key agreement",
                                        "key encipherment",
                                        "microsoft sgc",
                                        "netscape sgc",
                                        "ocsp signing",
                                        "s/mime",
                                        "server auth",
                                        "signing",
                                        "timestamping"};

constexpr std::int64_t kExpirationSecondsMin = 600;

bool IsDecision(std::string_view type) { return type == "Approved" || type == "Denied"; }

std::vector<const Json*> ConditionsOf(const Json& object, std::string_view type) {
  std::vector<const Json*> out;
  for (const Json& condition : ListAt(object, "status", "conditions"))
    if (StringAt(condition, "type") == type) out.push_back(&condition);
  return out;
}

// Sets the times that the client left out. A transition time is kept while type and status stay.
void StampConditions(const StrategyContext& context, Json& object, const Json& old) {
  if (ListAt(object, "status", "conditions").empty()) return;
  const std::string now = api::FormatTime(context.now);
  for (Json& condition : object["status"]["conditions"]) {
    if (Find(condition, "lastUpdateTime") == nullptr) condition["lastUpdateTime"] = now;
    if (Find(condition, "lastTransitionTime") != nullptr) continue;
    condition["lastTransitionTime"] = now;
    for (const Json* before : ConditionsOf(old, StringAt(condition, "type"))) {
      const Json* since = Find(*before, "lastTransitionTime");
      if (StringAt(*before, "status") != StringAt(condition, "status") || since == nullptr) continue;
      condition["lastTransitionTime"] = *since;
      break;
    }
  }
}

// A status update carries decisions over as they are; adding or removing one is refused by validation.
void KeepDecisions(Json& object, const Json& old) {
  for (std::string_view type : {"Approved", "Denied"}) {
    const std::vector<const Json*> before = ConditionsOf(old, type);
    if (before.empty() || before.size() != ConditionsOf(object, type).size()) continue;
    auto next = before.begin();
    for (Json& condition : object["status"]["conditions"])
      if (StringAt(condition, "type") == type) condition = **next++;
  }
}

void CheckCondition(const Json& condition, const Path& path, FieldErrors& errors) {
  const std::string_view type = StringAt(condition, "type");
  if (type.empty()) errors.push_back(api::RequiredError(path.Child("type")));
  const std::string_view status = StringAt(condition, "status");
  const bool only_true = IsDecision(type) || type == "Failed";
  if (status.empty())
    errors.push_back(api::RequiredError(path.Child("status")));
  else
    OneOf(errors, path.Child("status"), status,
          only_true ? std::vector<std::string_view>{"True"}
                    : std::vector<std::string_view>{"False", "True", "Unknown"});
}

void CheckConditions(const Json& object, FieldErrors& errors) {
  const Path path("status.conditions");
  const Json& conditions = ListAt(object, "status", "conditions");
  std::set<std::string_view> types;
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    const std::string_view type = StringAt(conditions[i], "type");
    CheckCondition(conditions[i], path.Index(i), errors);
    if (IsDecision(type) && types.contains(type == "Approved" ? "Denied" : "Approved"))
      errors.push_back(
          api::InvalidError(path, type, "Approved and Denied conditions are mutually exclusive"));
    if (!types.insert(type).second) errors.push_back(api::DuplicateError(path.Index(i).Child("type"), type));
  }
}

void CheckUsages(const Json& usages, const Path& path, FieldErrors& errors) {
  if (usages.empty()) errors.push_back(api::RequiredError(path));
  std::set<std::string_view> seen;
  std::size_t printed = 0;
  for (std::size_t i = 0; i < usages.size(); ++i) {
    const std::string& usage = usages[i].get_ref<const std::string&>();
    const bool known = std::find(std::begin(kUsages), std::end(kUsages), usage) != std::end(kUsages);
    if (!known && printed < api::kRepeatedTextMax) {
      errors.push_back(
          api::NotSupportedError(path.Index(i), usage, {std::begin(kUsages), std::end(kUsages)}));
      printed += errors.back().message.size();
    }
    if (!seen.insert(usage).second) errors.push_back(api::DuplicateError(path.Index(i), usage));
  }
}

// DIVERGES: the request must be a PEM block of the right type; its signature is not verified, and a signer's
// name needs a domain and a path, whose parts are not checked further.
void CheckSpec(const Json& spec, FieldErrors& errors) {
  const Path path("spec");
  std::string pem;
  const std::string_view request = StringAt(spec, "request");
  if (!api::DecodeBase64(request, &pem) ||
      pem.find("-----BEGIN CERTIFICATE REQUEST-----") == std::string::npos)
    errors.push_back(
        api::InvalidError(path.Child("request"), request, "PEM block type must be CERTIFICATE REQUEST"));
  CheckUsages(ListAt(spec, "usages"), path.Child("usages"), errors);
  const std::string_view signer = StringAt(spec, "signerName");
  const Path signer_path = path.Child("signerName");
  if (signer == "kubernetes.io/legacy-unknown")
    errors.push_back(
        api::InvalidError(signer_path, signer, "the legacy signerName is not allowed via this API version"));
  else if (signer.empty())
    errors.push_back(api::RequiredError(signer_path));
  else if (std::count(signer.begin(), signer.end(), '/') != 1)
    errors.push_back(
        api::InvalidError(signer_path, signer,
                          "must be a fully qualified domain and path of the form 'example.com/signer-name'"));
  const Json* expiration = Find(spec, "expirationSeconds");
  if (expiration != nullptr && expiration->get<std::int64_t>() < kExpirationSecondsMin)
    errors.push_back(api::InvalidError(path.Child("expirationSeconds"), *expiration,
                                       "may not specify a duration less than 600 seconds (10 minutes)"));
}

std::vector<std::string> AnyName(std::string_view /*name*/, bool /*prefix*/) { return {}; }

std::string Signer(const Json& object) { return std::string(StringAt(object, "spec", "signerName")); }

constexpr SelectableField kFields[] = {{"spec.signerName", Signer}};

class CertificateSigningRequest final : public Strategy {
 public:
  bool HasGeneration() const override { return false; }
  NameCheck NameRule() const override { return AnyName; }
  std::span<const SelectableField> SelectableFields() const override { return kFields; }

  // The requestor is who sent the request, whatever the client wrote.
  void PrepareForCreate(const StrategyContext& context, Json& object) const override {
    Json& spec = ObjectField(object, "spec");
    for (const char* field : {"username", "uid", "groups", "extra"}) spec.erase(field);
    if (context.user == nullptr) return;
    spec["username"] = context.user->name;
    if (!context.user->uid.empty()) spec["uid"] = context.user->uid;
    if (!context.user->groups.empty()) spec["groups"] = context.user->groups;
  }

  // A request cannot change after its creation.
  void PrepareForUpdate(const StrategyContext& /*context*/, Json& object, const Json& old) const override {
    object["spec"] = ObjectAt(old, "spec");
  }

  void PrepareForStatusUpdate(const StrategyContext& context, Json& object, const Json& old) const override {
    if (!IsApproval(context)) {
      KeepDecisions(object, old);
      return StampConditions(context, object, old);
    }
    StampConditions(context, object, old);
    Json status = ObjectAt(old, "status");
    status.erase("conditions");
    if (const Json* conditions = Find(object, "status", "conditions")) status["conditions"] = *conditions;
    object["status"] = std::move(status);
  }

  FieldErrors Validate(const StrategyContext& /*context*/, const Json& object) const override {
    return Whole(object);
  }

  FieldErrors ValidateUpdate(const StrategyContext& context, const Json& object,
                             const Json& old) const override {
    return Changed(context, object, old);
  }

  FieldErrors ValidateStatusUpdate(const StrategyContext& context, const Json& object,
                                   const Json& old) const override {
    return Changed(context, object, old);
  }

 private:
  static bool IsApproval(const StrategyContext& context) { return context.subresource == "approval"; }

  static FieldErrors Whole(const Json& object) {
    FieldErrors errors = NewMetadata(object, false, AnyName);
    CheckSpec(ObjectAt(object, "spec"), errors);
    CheckConditions(object, errors);
    return errors;
  }

  static FieldErrors Changed(const StrategyContext& context, const Json& object, const Json& old) {
    FieldErrors errors = Whole(object);
    const Path path("status.conditions");
    for (std::string_view type : {"Approved", "Denied", "Failed"})
      if (ConditionsOf(object, type).size() < ConditionsOf(old, type).size())
        errors.push_back(
            api::ForbiddenError(path, "updates may not remove a condition of type " + api::Quote(type)));
    for (std::string_view type : {"Approved", "Denied"})
      if (!IsApproval(context) && ConditionsOf(object, type).size() > ConditionsOf(old, type).size())
        errors.push_back(
            api::ForbiddenError(path, "updates may not add a condition of type " + api::Quote(type)));
    const std::string_view before = StringAt(old, "status", "certificate");
    if (!before.empty() && before != StringAt(object, "status", "certificate"))
      errors.push_back(api::ForbiddenError(Path("status.certificate"),
                                           "updates may not modify existing certificate content"));
    api::Append(errors, ChangedMetadata(object, old));
    return errors;
  }
};

}  // namespace

const Strategy& CertificateSigningRequestStrategy() {
  static const CertificateSigningRequest strategy;
  return strategy;
}

}  // namespace terrarium::apiserver
