// Ingress and IngressClass.

#include <set>

#include "apiserver/strategies.h"
#include "apiserver/strategy/internal/ip.h"
#include "apiserver/strategy/internal/plain_kind.h"

namespace terrarium::apiserver {
namespace {

using namespace strategy;  // NOLINT: the helpers of this folder

constexpr std::string_view kClassAnnotation = "kubernetes.io/ingress.class";

// A name of which the first label may be "*".
Messages IsWildcardSubdomain(std::string_view host) {
  constexpr std::string_view kMessage =
      "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must "
      "consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character";
  constexpr std::string_view kFormat =
      "\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
  if (host.starts_with("*.") && IsDns1123Subdomain(host.substr(2)).empty()) return {};
  return {RegexMessage(kMessage, kFormat, {"*.example.com"})};
}

// Returns whether the host is a wildcard.
bool CheckHost(std::string_view host, const Path& path, FieldErrors& errors) {
  const bool wildcard = host.find('*') != std::string_view::npos;
  AddInvalid(wildcard ? IsWildcardSubdomain(host) : IsDns1123Subdomain(host), host, path, errors);
  return wildcard;
}

void CheckReference(const Json& reference, const Path& path, FieldErrors& errors) {
  if (const std::string_view group = StringAt(reference, "apiGroup"); !group.empty())
    AddInvalid(IsDns1123Subdomain(group), group, path.Child("apiGroup"), errors);
  for (const char* field : {"kind", "name"}) {
    const std::string_view text = StringAt(reference, field);
    if (text.empty())
      errors.push_back(api::RequiredError(path.Child(field)));
    else
      AddInvalid(IsValidPathSegmentName(text), text, path.Child(field), errors);
  }
}

void CheckServiceBackend(const Json& service, const Path& path, FieldErrors& errors) {
  const Path here = path.Child("service");
  const std::string_view name = StringAt(service, "name");
  if (name.empty())
    errors.push_back(api::RequiredError(here.Child("name")));
  else
    AddInvalid(NameIsDnsLabel(name, false), name, here.Child("name"), errors);
  const std::string_view port_name = StringAt(service, "port", "name");
  const std::int64_t number = IntAt(service, 0, "port", "number");
  if (!port_name.empty() && number != 0) {
    errors.push_back(api::InvalidError(path, "", "cannot set both port name & port number"));
  } else if (!port_name.empty()) {
    AddInvalid(IsValidPortName(port_name), port_name, here.Child("port", "name"), errors);
  } else if (number != 0) {
    for (const std::string& message : IsValidPortNum(number))
      errors.push_back(api::InvalidError(here.Child("port", "number"), number, message));
  } else {
    errors.push_back(api::RequiredError(path, "port name or number is required"));
  }
}

void CheckBackend(const Json& backend, const Path& path, FieldErrors& errors) {
  const Json* resource = Find(backend, "resource");
  const Json* service = Find(backend, "service");
  if (resource != nullptr && service != nullptr)
    errors.push_back(api::InvalidError(path, "", "cannot set both resource and service backends"));
  else if (resource != nullptr)
    CheckReference(*resource, path.Child("resource"), errors);
  else if (service != nullptr)
    CheckServiceBackend(*service, path, errors);
  else
    errors.push_back(api::InvalidError(path, "", "resource or service backend is required"));
}

void CheckPathText(std::string_view text, const Path& path, FieldErrors& errors) {
  if (!text.starts_with('/')) errors.push_back(api::InvalidError(path, text, "must be an absolute path"));
  for (const char* sequence : {"//", "/./", "/../", "%2f", "%2F"})
    if (text.find(sequence) != std::string_view::npos)
      errors.push_back(api::InvalidError(path, text, std::string("must not contain '") + sequence + "'"));
  for (const char* suffix : {"/..", "/."})
    if (text.ends_with(suffix))
      errors.push_back(api::InvalidError(path, text, std::string("cannot end with '") + suffix + "'"));
}

void CheckHttpPath(const Json& http_path, const Path& path, FieldErrors& errors) {
  const Json* type = Find(http_path, "pathType");
  if (type == nullptr) {
    errors.push_back(api::RequiredError(path.Child("pathType"), "pathType must be specified"));
    return;
  }
  const std::string_view text = StringAt(http_path, "path");
  const std::string_view name = StringAt(http_path, "pathType");
  if (name == "Exact" || name == "Prefix") {
    CheckPathText(text, path.Child("path"), errors);
  } else if (name == "ImplementationSpecific") {
    if (!text.empty() && !text.starts_with('/'))
      errors.push_back(api::InvalidError(path.Child("path"), text, "must be an absolute path"));
  } else {
    errors.push_back(
        api::NotSupportedError(path.Child("pathType"), name, {"Exact", "ImplementationSpecific", "Prefix"}));
  }
  CheckBackend(ObjectAt(http_path, "backend"), path.Child("backend"), errors);
}

void CheckRule(const Json& rule, const Path& path, FieldErrors& errors) {
  if (const std::string_view host = StringAt(rule, "host"); !host.empty()) {
    if (IpFamily(host))
      errors.push_back(api::InvalidError(path.Child("host"), host, "must be a DNS name, not an IP address"));
    CheckHost(host, path.Child("host"), errors);
  }
  const Json* http = Find(rule, "http");
  if (http == nullptr) return;
  const Path here = path.Child("http", "paths");
  const Json& paths = ListAt(*http, "paths");
  if (paths.empty()) errors.push_back(api::RequiredError(here));
  for (std::size_t i = 0; i < paths.size(); ++i) CheckHttpPath(paths[i], here.Index(i), errors);
}

void CheckTls(const Json& tls, const Path& path, FieldErrors& errors) {
  const Json& hosts = ListAt(tls, "hosts");
  for (std::size_t i = 0; i < hosts.size(); ++i)
    CheckHost(hosts[i].get_ref<const std::string&>(), path.Child("hosts").Index(i), errors);
  if (const std::string_view secret = StringAt(tls, "secretName"); !secret.empty())
    AddInvalid(NameIsDnsSubdomain(secret, false), secret, path.Child("secretName"), errors);
}

class Ingress final : public PlainKind {
 public:
  Ingress() : PlainKind({.status = true, .generation = Generation::kSpec}) {}

  FieldErrors ValidateStatusUpdate(const StrategyContext& context, const Json& object,
                                   const Json& old) const override {
    FieldErrors errors = PlainKind::ValidateStatusUpdate(context, object, old);
    const Path path("status.loadBalancer.ingress");
    Texts before;
    for (const Json& point : ListAt(old, "status", "loadBalancer", "ingress"))
      before.insert(StringAt(point, "ip"));
    const Json& points = ListAt(object, "status", "loadBalancer", "ingress");
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (const std::string_view ip = StringAt(points[i], "ip"); !ip.empty())
        ValidIp(errors, ip, before, path.Index(i).Child("ip"));
      const std::string_view host = StringAt(points[i], "hostname");
      if (host.empty()) continue;
      const Path here = path.Index(i).Child("hostname");
      AddInvalid(IsDns1123Subdomain(host), host, here, errors);
      if (IpFamily(host))
        errors.push_back(api::InvalidError(here, host, "must be a DNS name, not an IP address"));
    }
    return errors;
  }

  std::vector<std::string> Warnings(const StrategyContext& /*context*/, const Json& object,
                                    const Json* old) const override {
    if (old != nullptr || Find(object, "metadata", "annotations", kClassAnnotation) == nullptr ||
        Find(object, "spec", "ingressClassName") != nullptr)
      return {};
    return {
        "annotation \"kubernetes.io/ingress.class\" is deprecated, please use 'spec.ingressClassName' "
        "instead"};
  }

 private:
  void Check(const Json& object, const Json* old, FieldErrors& errors) const override {
    const Path path("spec");
    const Json& spec = ObjectAt(object, "spec");
    const Json& rules = ListAt(spec, "rules");
    const Json* backend = Find(spec, "defaultBackend");
    if (rules.empty() && backend == nullptr)
      errors.push_back(
          api::InvalidError(path, Json(), "either `defaultBackend` or `rules` must be specified"));
    if (backend != nullptr) CheckBackend(*backend, path.Child("defaultBackend"), errors);
    for (std::size_t i = 0; i < rules.size(); ++i) CheckRule(rules[i], path.Child("rules").Index(i), errors);
    const Json& tls = ListAt(spec, "tls");
    for (std::size_t i = 0; i < tls.size(); ++i) CheckTls(tls[i], path.Child("tls").Index(i), errors);
    const Json* name = Find(spec, "ingressClassName");
    if (name == nullptr) return;
    const std::string& text = name->get_ref<const std::string&>();
    AddInvalid(NameIsDnsSubdomain(text, false), text, path.Child("ingressClassName"), errors);
    const Json* annotation = Find(object, "metadata", "annotations", kClassAnnotation);
    if (old == nullptr && annotation != nullptr && *annotation != *name)
      errors.push_back(api::InvalidError(Path("annotations").Child(kClassAnnotation), *annotation,
                                         "must match `ingressClassName` when both are specified"));
  }
};

class IngressClass final : public PlainKind {
 public:
  IngressClass() : PlainKind({.generation = Generation::kSpec}) {}

 private:
  static constexpr int kControllerMax = 250;

  void Check(const Json& object, const Json* old, FieldErrors& errors) const override {
    const Path path("spec");
    const Json& spec = ObjectAt(object, "spec");
    if (old != nullptr) Immutable(errors, spec, ObjectAt(*old, "spec"), "controller", path);
    const std::string_view controller = StringAt(spec, "controller");
    if (controller.size() > kControllerMax)
      errors.push_back(api::TooLongError(path.Child("controller"), kControllerMax));
    api::Append(errors, IsDomainPrefixedPath(controller, path.Child("controller")));
    if (const Json* parameters = Find(spec, "parameters")) CheckParameters(*parameters, errors);
  }

  static void CheckParameters(const Json& parameters, FieldErrors& errors) {
    const Path path("spec.parameters");
    CheckReference(parameters, path, errors);
    const std::string_view scope = StringAt(parameters, "scope");
    if (scope.empty()) {
      errors.push_back(api::RequiredError(path.Child("scope")));
      return;
    }
    OneOf(errors, path.Child("scope"), scope, {"Cluster", "Namespace"});
    const Json* ns = Find(parameters, "namespace");
    const std::string_view name = StringAt(parameters, "namespace");
    if (scope == "Namespace" && name.empty())
      errors.push_back(
          api::RequiredError(path.Child("namespace"), "`parameters.scope` is set to 'Namespace'"));
    else if (scope == "Namespace")
      AddInvalid(NameIsDnsLabel(name, false), name, path.Child("namespace"), errors);
    else if (scope == "Cluster" && ns != nullptr)
      errors.push_back(
          api::ForbiddenError(path.Child("namespace"), "`parameters.scope` is set to 'Cluster'"));
  }
};

}  // namespace

const Strategy& IngressStrategy() {
  static const Ingress strategy;
  return strategy;
}

const Strategy& IngressClassStrategy() {
  static const IngressClass strategy;
  return strategy;
}

}  // namespace terrarium::apiserver
