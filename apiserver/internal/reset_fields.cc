#include "apiserver/internal/reset_fields.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace terrarium::apiserver {
namespace {

using api::FieldSetPtr;
using Path = std::initializer_list<std::string_view>;

FieldSetPtr SetOfPaths(std::initializer_list<Path> paths) {
  FieldSetPtr set;
  for (const Path& names : paths) {
    api::FieldPath path;
    for (std::string_view name : names) path.push_back(api::PathElement::Field(name));
    set = api::Union(set, api::SetOf(path));
  }
  return api::Intern(set);
}

const FieldSetPtr& Status() {
  static const FieldSetPtr kFields = SetOfPaths({{"status"}});
  return kFields;
}

// What an update of the status resets. Most kinds keep the metadata that it brings along.
FieldSetPtr ResetByStatus(const ResourceInfo& resource) {
  static const FieldSetPtr kSpec = SetOfPaths({{"spec"}});
  static const FieldSetPtr kAllButStatus = SetOfPaths({{"spec"}, {"metadata"}});
  static const FieldSetPtr kOfDeployment = SetOfPaths({{"spec"}, {"metadata", "labels"}});
  static const FieldSetPtr kOfPod =
      SetOfPaths({{"spec"}, {"metadata", "deletionTimestamp"}, {"metadata", "ownerReferences"}});
  static const FieldSetPtr kOfSigningRequest = SetOfPaths({{"spec"}, {"status", "conditions"}});
  if (StatusKeepsMetadata(resource)) return kAllButStatus;
  if (resource.plural == "deployments") return kOfDeployment;
  if (resource.plural == "pods") return kOfPod;
  if (resource.plural == "certificatesigningrequests") return kOfSigningRequest;
  return kSpec;
}

}  // namespace

bool StatusKeepsMetadata(const ResourceInfo& resource) {
  static constexpr std::string_view kResources[] = {"flowschemas",       "prioritylevelconfigurations",
                                                    "resourceclaims",    "servicecidrs",
                                                    "volumeattachments", "validatingadmissionpolicies"};
  return std::find(std::begin(kResources), std::end(kResources), resource.plural) != std::end(kResources);
}

FieldSetPtr ResetFieldsOf(const ResourceInfo& resource, const SubresourceInfo* subresource) {
  static const FieldSetPtr kSpecAndStatus = SetOfPaths({{"spec"}, {"status"}});
  static const FieldSetPtr kAllButApproval = SetOfPaths({{"spec"}, {"status", "certificate"}});
  const bool signing_request = resource.plural == "certificatesigningrequests";
  if (subresource == nullptr) {
    if (signing_request) return kSpecAndStatus;
    return resource.Subresource("status") != nullptr ? Status() : nullptr;
  }
  if (subresource->name == "status") return ResetByStatus(resource);
  if (subresource->name == "approval") return kAllButApproval;
  if (subresource->name == "finalize") return Status();
  return nullptr;
}

}  // namespace terrarium::apiserver
