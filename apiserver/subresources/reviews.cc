#include <utility>

#include "api/base/errors.h"
#include "api/json_access.h"
#include "apiserver/internal/body.h"
#include "apiserver/internal/options.h"
#include "apiserver/internal/respond.h"
#include "apiserver/internal/verbs.h"

namespace terrarium::apiserver {
namespace {

using api::Path;

Json UserDocument(const UserInfo& user) {
  Json out = {{"username", user.name}};
  if (!user.uid.empty()) out["uid"] = user.uid;
  if (!user.groups.empty()) out["groups"] = user.groups;
  return out;
}

// Every authenticated user may do everything, so each valid review is allowed.
FieldErrors AnswerAccess(Json& review) {
  const Path spec("spec");
  bool resource = api::Find(review, "spec", "resourceAttributes") != nullptr;
  bool other = api::Find(review, "spec", "nonResourceAttributes") != nullptr;
  if (resource && other)
    return {api::InvalidError(spec.Child("nonResourceAttributes"), review["spec"]["nonResourceAttributes"],
                              "cannot be specified in combination with resourceAttributes")};
  if (!resource && !other)
    return {
        api::InvalidError(spec.Child("resourceAttributes"), nullptr,
                          "exactly one of nonResourceAttributes or resourceAttributes must be specified")};
  review["status"] = {{"allowed", true}};
  return {};
}

void AnswerRules(Json& review) {
  const Json everything = Json::array({"*"});
  review["status"] = {
      {"resourceRules", {{{"verbs", everything}, {"apiGroups", everything}, {"resources", everything}}}},
      {"nonResourceRules", {{{"verbs", everything}, {"nonResourceURLs", everything}}}},
      {"incomplete", false}};
}

FieldErrors AnswerToken(const Server& server, Json& review) {
  std::string token(api::StringAt(review, "spec", "token"));
  if (token.empty()) return {api::InvalidError(Path("spec.token"), "", "token is required for TokenReview")};
  std::optional<UserInfo> user;
  if (server.options.authenticate) user = server.options.authenticate(token);
  review["status"] = Json::object();
  if (user)
    review["status"] = {{"authenticated", true}, {"user", UserDocument(*user)}};
  else
    review["status"] = {{"error", "[invalid bearer token]"}};
  return {};
}

FieldErrors Answer(const Call& call, Json& review) {
  std::string_view kind = call.resource().kind;
  if (kind == "SelfSubjectReview") {
    review["status"]["userInfo"] = UserDocument(call.request.user);
    return {};
  }
  if (kind == "TokenReview") return AnswerToken(call.server, review);
  if (kind == "SelfSubjectRulesReview") {
    AnswerRules(review);
    return {};
  }
  return AnswerAccess(review);
}

}  // namespace

void ServeReview(const CallPtr& call) {
  auto options = ParseWriteOptions(call->request, "CreateOptions");
  if (!options) return RespondError(call, options.status());
  const ResourceInfo& resource = call->resource();
  auto review = DecodeBody(*call, BodyKindOf(resource), options->field_validation);
  if (!review) return RespondError(call, review.status());
  if (FieldErrors errors = Answer(*call, *review); !errors.empty())
    // Kubernetes omits the kind in this error.
    return RespondError(call, api::Invalid({std::string(resource.group), ""}, "", errors));
  (*review)["kind"] = resource.kind;
  (*review)["apiVersion"] = resource.GroupVersion();
  RespondDocument(call, 201, *review, resource.Schema());
}

}  // namespace terrarium::apiserver
