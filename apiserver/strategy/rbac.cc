// Roles and their bindings. They are kept and validated; no request is refused because of them.

#include "apiserver/strategies.h"
#include "apiserver/strategy/internal/plain_kind.h"
#include "apiserver/strategy/internal/update_strategy.h"

namespace terrarium::apiserver {
namespace {

using namespace strategy;  // NOLINT: the helpers of this folder

constexpr std::string_view kGroup = "rbac.authorization.k8s.io";

constexpr PlainRules kRules = {.create_on_update = true, .name_rule = NameIsPathSegment};

void CheckRule(const Json& rule, bool namespaced, const Path& path, FieldErrors& errors) {
  if (ListAt(rule, "verbs").empty())
    errors.push_back(api::RequiredError(path.Child("verbs"), "verbs must contain at least one value"));
  const Json& urls = ListAt(rule, "nonResourceURLs");
  if (!urls.empty()) {
    if (namespaced)
      errors.push_back(api::InvalidError(path.Child("nonResourceURLs"), urls,
                                         "namespaced rules cannot apply to non-resource URLs"));
    if (!ListAt(rule, "apiGroups").empty() || !ListAt(rule, "resources").empty() ||
        !ListAt(rule, "resourceNames").empty())
      errors.push_back(
          api::InvalidError(path.Child("nonResourceURLs"), urls,
                            "rules cannot apply to both regular resources and non-resource URLs"));
    return;
  }
  if (ListAt(rule, "apiGroups").empty())
    errors.push_back(
        api::RequiredError(path.Child("apiGroups"), "resource rules must supply at least one api group"));
  if (ListAt(rule, "resources").empty())
    errors.push_back(
        api::RequiredError(path.Child("resources"), "resource rules must supply at least one resource"));
}

void CheckAggregation(const Json& rule, FieldErrors& errors) {
  const Path path("aggregationRule.clusterRoleSelectors");
  const Json& selectors = ListAt(rule, "clusterRoleSelectors");
  if (selectors.empty())
    errors.push_back(
        api::RequiredError(path, "at least one clusterRoleSelector required if aggregationRule is non-nil"));
  for (std::size_t i = 0; i < selectors.size(); ++i)
    api::Append(errors, ValidateLabelSelector(selectors[i], {}, path.Index(i)));
}

class Role final : public PlainKind {
 public:
  explicit Role(bool namespaced) : PlainKind(kRules), namespaced_(namespaced) {}

 private:
  void Check(const Json& object, const Json* /*old*/, FieldErrors& errors) const override {
    const Json& rules = ListAt(object, "rules");
    for (std::size_t i = 0; i < rules.size(); ++i)
      CheckRule(rules[i], namespaced_, Path("rules").Index(i), errors);
    if (const Json* aggregation = Find(object, "aggregationRule")) CheckAggregation(*aggregation, errors);
  }

  bool namespaced_;
};

void CheckSubjectGroup(const Json& subject, std::string_view expected, const Path& path,
                       FieldErrors& errors) {
  const std::string_view group = StringAt(subject, "apiGroup");
  if (group != expected) errors.push_back(api::NotSupportedError(path.Child("apiGroup"), group, {expected}));
}

void CheckSubject(const Json& subject, bool namespaced, const Path& path, FieldErrors& errors) {
  const std::string_view name = StringAt(subject, "name");
  if (name.empty()) errors.push_back(api::RequiredError(path.Child("name")));
  const std::string_view kind = StringAt(subject, "kind");
  if (kind == "ServiceAccount") {
    if (!name.empty()) AddInvalid(NameIsDnsSubdomain(name, false), name, path.Child("name"), errors);
    CheckSubjectGroup(subject, "", path, errors);
    if (!namespaced && StringAt(subject, "namespace").empty())
      errors.push_back(api::RequiredError(path.Child("namespace")));
  } else if (kind == "User" || kind == "Group") {
    CheckSubjectGroup(subject, kGroup, path, errors);
  } else {
    errors.push_back(api::NotSupportedError(path.Child("kind"), kind, {"ServiceAccount", "User", "Group"}));
  }
}

// Kubernetes prints its own struct, with Go's field names in declaration order.
std::string RoleRefText(const Json& ref) {
  return "{\"APIGroup\":" + api::Quote(StringAt(ref, "apiGroup")) +
         ",\"Kind\":" + api::Quote(StringAt(ref, "kind")) + ",\"Name\":" + api::Quote(StringAt(ref, "name")) +
         "}";
}

class Binding final : public PlainKind {
 public:
  explicit Binding(bool namespaced) : PlainKind(kRules), namespaced_(namespaced) {}

  void Default(Json& object) const override {
    if (StringAt(object, "roleRef", "apiGroup").empty()) ObjectField(object, "roleRef")["apiGroup"] = kGroup;
    if (ListAt(object, "subjects").empty()) return;
    for (Json& subject : object["subjects"]) {
      const std::string_view kind = StringAt(subject, "kind");
      if (StringAt(subject, "apiGroup").empty() && (kind == "User" || kind == "Group"))
        subject["apiGroup"] = kGroup;
    }
  }

 private:
  void Check(const Json& object, const Json* old, FieldErrors& errors) const override {
    const Json& ref = ObjectAt(object, "roleRef");
    const Path path("roleRef");
    if (const std::string_view group = StringAt(ref, "apiGroup"); group != kGroup)
      errors.push_back(api::NotSupportedError(path.Child("apiGroup"), group, {kGroup}));
    const std::string_view kind = StringAt(ref, "kind");
    if (kind != "ClusterRole" && !(namespaced_ && kind == "Role"))
      errors.push_back(api::NotSupportedError(path.Child("kind"), kind,
                                              namespaced_
                                                  ? std::vector<std::string_view>{"Role", "ClusterRole"}
                                                  : std::vector<std::string_view>{"ClusterRole"}));
    const std::string_view name = StringAt(ref, "name");
    if (name.empty())
      errors.push_back(api::RequiredError(path.Child("name")));
    else
      AddInvalid(IsValidPathSegmentName(name), name, path.Child("name"), errors);
    const Json& subjects = ListAt(object, "subjects");
    for (std::size_t i = 0; i < subjects.size(); ++i)
      CheckSubject(subjects[i], namespaced_, Path("subjects").Index(i), errors);
    if (old != nullptr && ObjectAt(*old, "roleRef") != ref)
      errors.push_back(InvalidText(path, RoleRefText(ref), "cannot change roleRef"));
  }

  bool namespaced_;
};

}  // namespace

const Strategy& RoleStrategy() {
  static const Role strategy(true);
  return strategy;
}

const Strategy& ClusterRoleStrategy() {
  static const Role strategy(false);
  return strategy;
}

const Strategy& RoleBindingStrategy() {
  static const Binding strategy(true);
  return strategy;
}

const Strategy& ClusterRoleBindingStrategy() {
  static const Binding strategy(false);
  return strategy;
}

}  // namespace terrarium::apiserver
