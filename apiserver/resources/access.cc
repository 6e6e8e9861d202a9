// Who may do what: authentication.k8s.io, authorization.k8s.io, certificates.k8s.io,
// rbac.authorization.k8s.io, and the admission that users add: admissionregistration.k8s.io.

#include "apiserver/resources/internal/row.h"
#include "apiserver/strategies.h"

namespace terrarium::apiserver::resources {
namespace {

constexpr Package kAdmission = {"admissionregistration.k8s.io", "v1", "io.k8s.api.admissionregistration.v1."};
constexpr Package kAuthentication = {"authentication.k8s.io", "v1", "io.k8s.api.authentication.v1."};
constexpr Package kAuthorization = {"authorization.k8s.io", "v1", "io.k8s.api.authorization.v1."};
constexpr Package kCertificates = {"certificates.k8s.io", "v1", "io.k8s.api.certificates.v1."};
constexpr Package kRbac = {"rbac.authorization.k8s.io", "v1", "io.k8s.api.rbac.v1."};

}  // namespace

Resources AdmissionRegistration() {
  const RowOptions cluster = {.namespaced = false, .categories = {"api-extensions"}};
  RowOptions with_status = cluster;
  with_status.status = true;
  const Strategy& webhooks = WebhookConfigurationStrategy();
  const Strategy& policies = AdmissionPolicyStrategy();
  return {
      Row(kAdmission, "MutatingAdmissionPolicy", "mutatingadmissionpolicies", policies, cluster),
      Row(kAdmission, "MutatingAdmissionPolicyBinding", "mutatingadmissionpolicybindings", policies, cluster),
      Row(kAdmission, "MutatingWebhookConfiguration", "mutatingwebhookconfigurations", webhooks, cluster),
      Row(kAdmission, "ValidatingAdmissionPolicy", "validatingadmissionpolicies",
          ValidatingAdmissionPolicyStrategy(), with_status),
      Row(kAdmission, "ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings", policies,
          cluster),
      Row(kAdmission, "ValidatingWebhookConfiguration", "validatingwebhookconfigurations", webhooks, cluster),
  };
}

Resources Authentication() {
  return {
      VirtualRow(kAuthentication, "SelfSubjectReview", "selfsubjectreviews", false),
      VirtualRow(kAuthentication, "TokenReview", "tokenreviews", false),
  };
}

Resources Authorization() {
  return {
      VirtualRow(kAuthorization, "LocalSubjectAccessReview", "localsubjectaccessreviews", true),
      VirtualRow(kAuthorization, "SelfSubjectAccessReview", "selfsubjectaccessreviews", false),
      VirtualRow(kAuthorization, "SelfSubjectRulesReview", "selfsubjectrulesreviews", false),
      VirtualRow(kAuthorization, "SubjectAccessReview", "subjectaccessreviews", false),
  };
}

Resources Certificates() {
  return {
      Row(kCertificates, "CertificateSigningRequest", "certificatesigningrequests",
          CertificateSigningRequestStrategy(),
          {.namespaced = false,
           .short_names = {"csr"},
           .subresources = {Subresource("approval", "CertificateSigningRequest", {"get", "patch", "update"})},
           .status = true}),
  };
}

Resources Rbac() {
  return {
      Row(kRbac, "ClusterRoleBinding", "clusterrolebindings", ClusterRoleBindingStrategy(),
          {.namespaced = false}),
      Row(kRbac, "ClusterRole", "clusterroles", ClusterRoleStrategy(), {.namespaced = false}),
      Row(kRbac, "RoleBinding", "rolebindings", RoleBindingStrategy()),
      Row(kRbac, "Role", "roles", RoleStrategy()),
  };
}

}  // namespace terrarium::apiserver::resources
