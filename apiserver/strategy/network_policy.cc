#include "apiserver/strategies.h"
#include "apiserver/strategy/internal/ip.h"
#include "apiserver/strategy/internal/plain_kind.h"

namespace terrarium::apiserver {
namespace {

using namespace strategy;  // NOLINT: the helpers of this folder

void CheckNumber(std::int64_t number, const Path& path, FieldErrors& errors) {
  for (const std::string& message : IsValidPortNum(number))
    errors.push_back(api::InvalidError(path, number, message));
}

void CheckPort(const Json& port, const Path& path, FieldErrors& errors) {
  const std::string_view protocol = StringAt(port, "protocol");
  if (protocol != "TCP" && protocol != "UDP" && protocol != "SCTP")
    errors.push_back(api::NotSupportedError(path.Child("protocol"), protocol, {"TCP", "UDP", "SCTP"}));
  const Json* start = Find(port, "port");
  const Json* end = Find(port, "endPort");
  const Path end_path = path.Child("endPort");
  if (start == nullptr) {
    if (end != nullptr)
      errors.push_back(
          api::InvalidError(end_path, *end, "may not be specified when `port` is not specified"));
  } else if (start->is_string()) {
    if (end != nullptr)
      errors.push_back(api::InvalidError(end_path, *end, "may not be specified when `port` is non-numeric"));
    const std::string& name = start->get_ref<const std::string&>();
    AddInvalid(IsValidPortName(name), name, path.Child("port"), errors);
  } else {
    CheckNumber(start->get<std::int64_t>(), path.Child("port"), errors);
    if (end == nullptr) return;
    if (*end < *start)
      errors.push_back(api::InvalidError(end_path, *start, "must be greater than or equal to `port`"));
    CheckNumber(end->get<std::int64_t>(), end_path, errors);
  }
}

// The policy's ranges, which an update may keep even if they are malformed.
void CollectRanges(const Json& rules, const char* peers, Texts& out) {
  for (const Json& rule : rules) {
    for (const Json& peer : ListAt(rule, peers)) {
      const Json* block = Find(peer, "ipBlock");
      if (block == nullptr) continue;
      out.insert(StringAt(*block, "cidr"));
      for (const Json& except : ListAt(*block, "except")) out.insert(except.get_ref<const std::string&>());
    }
  }
}

class Checker {
 public:
  Checker(const Json& old_spec, FieldErrors& errors) : errors_(errors) {
    CollectRanges(ListAt(old_spec, "ingress"), "from", old_ranges_);
    CollectRanges(ListAt(old_spec, "egress"), "to", old_ranges_);
    // A selector stored by laxer rules may stay.
    options_.allow_invalid_label_values =
        !ValidateLabelSelector(ObjectAt(old_spec, "podSelector"), {}, Path()).empty();
  }

  void Spec(const Json& spec) {
    const Path path("spec");
    Selector(ObjectAt(spec, "podSelector"), path.Child("podSelector"));
    Rules(ListAt(spec, "ingress"), "from", path.Child("ingress"));
    Rules(ListAt(spec, "egress"), "to", path.Child("egress"));
    const Json& types = ListAt(spec, "policyTypes");
    if (types.size() > 2) {
      errors_.push_back(
          api::InvalidError(path.Child("policyTypes"), types, "may not specify more than two policyTypes"));
      return;
    }
    for (std::size_t i = 0; i < types.size(); ++i)
      OneOf(errors_, path.Child("policyTypes").Index(i), types[i].get_ref<const std::string&>(),
            {"Ingress", "Egress"});
  }

 private:
  void Selector(const Json& selector, const Path& path) {
    api::Append(errors_, ValidateLabelSelector(selector, options_, path));
  }

  void Rules(const Json& rules, const char* peers, const Path& path) {
    for (std::size_t i = 0; i < rules.size(); ++i) {
      const Json& ports = ListAt(rules[i], "ports");
      for (std::size_t j = 0; j < ports.size(); ++j)
        CheckPort(ports[j], path.Index(i).Child("ports").Index(j), errors_);
      const Json& others = ListAt(rules[i], peers);
      for (std::size_t j = 0; j < others.size(); ++j) Peer(others[j], path.Index(i).Child(peers).Index(j));
    }
  }

  void Peer(const Json& peer, const Path& path) {
    int selectors = 0;
    for (const char* field : {"podSelector", "namespaceSelector"}) {
      const Json* selector = Find(peer, field);
      if (selector == nullptr) continue;
      ++selectors;
      Selector(*selector, path.Child(field));
    }
    const Json* block = Find(peer, "ipBlock");
    if (block != nullptr) Block(*block, path.Child("ipBlock"));
    if (block == nullptr && selectors == 0)
      errors_.push_back(api::RequiredError(path, "must specify a peer"));
    else if (block != nullptr && selectors > 0)
      errors_.push_back(api::ForbiddenError(path, "may not specify both ipBlock and another peer"));
  }

  void Block(const Json& block, const Path& path) {
    const std::string_view cidr = StringAt(block, "cidr");
    if (cidr.empty()) {
      errors_.push_back(api::RequiredError(path.Child("cidr")));
      return;
    }
    ValidCidr(errors_, cidr, old_ranges_, path.Child("cidr"));
    const Json& excepts = ListAt(block, "except");
    for (std::size_t i = 0; i < excepts.size(); ++i) {
      const std::string& except = excepts[i].get_ref<const std::string&>();
      const Path here = path.Child("except").Index(i);
      ValidCidr(errors_, except, old_ranges_, here);
      if (!IsStrictSubset(except, cidr).value_or(true))
        errors_.push_back(api::InvalidError(here, except, "must be a strict subset of `cidr`"));
    }
  }

  FieldErrors& errors_;
  Texts old_ranges_;
  LabelSelectorOptions options_;
};

class NetworkPolicy final : public PlainKind {
 public:
  NetworkPolicy() : PlainKind({.generation = Generation::kSpec}) {}

  void Default(Json& object) const override {
    Json& spec = ObjectField(object, "spec");
    if (!ListAt(spec, "policyTypes").empty()) return;
    spec["policyTypes"] = ListAt(spec, "egress").empty() ? Json{"Ingress"} : Json{"Ingress", "Egress"};
  }

 private:
  void Check(const Json& object, const Json* old, FieldErrors& errors) const override {
    static const Json kNoSpec = Json::object();
    Checker(old == nullptr ? kNoSpec : ObjectAt(*old, "spec"), errors).Spec(ObjectAt(object, "spec"));
  }
};

}  // namespace

const Strategy& NetworkPolicyStrategy() {
  static const NetworkPolicy strategy;
  return strategy;
}

}  // namespace terrarium::apiserver
