#pragma once

// One strategy per kind, in strategy/<kind>.cc, or in the file of its group where kinds share rules; kinds
// without rules of their own are in strategy/generic.cc. The instances live as long as the program.

#include "apiserver/strategy.h"

namespace terrarium::apiserver {

// Also of bindings.
const Strategy& AdmissionPolicyStrategy();
const Strategy& CertificateSigningRequestStrategy();
const Strategy& ClusterRoleStrategy();
const Strategy& ClusterRoleBindingStrategy();
const Strategy& ConfigMapStrategy();
const Strategy& ControllerRevisionStrategy();
const Strategy& CronJobStrategy();
const Strategy& CsiDriverStrategy();
const Strategy& CsiNodeStrategy();
const Strategy& CsiStorageCapacityStrategy();
const Strategy& DaemonSetStrategy();
const Strategy& DeploymentStrategy();
const Strategy& DeviceClassStrategy();
const Strategy& EndpointSliceStrategy();
const Strategy& EndpointsStrategy();
const Strategy& EventStrategy();
// FlowSchema and PriorityLevelConfiguration.
const Strategy& FlowControlStrategy();
// For a kind without rules of its own, with a status subresource or without.
const Strategy& GenericStrategy(bool has_status);
const Strategy& HorizontalPodAutoscalerStrategy();
const Strategy& IngressStrategy();
const Strategy& IngressClassStrategy();
const Strategy& IpAddressStrategy();
const Strategy& JobStrategy();
const Strategy& LeaseStrategy();
const Strategy& LimitRangeStrategy();
const Strategy& NamespaceStrategy();
const Strategy& NetworkPolicyStrategy();
const Strategy& NodeStrategy();
const Strategy& PersistentVolumeStrategy();
const Strategy& PersistentVolumeClaimStrategy();
const Strategy& PodStrategy();
const Strategy& PodDisruptionBudgetStrategy();
const Strategy& PodTemplateStrategy();
const Strategy& PriorityClassStrategy();
const Strategy& ReplicaSetStrategy();
const Strategy& ReplicationControllerStrategy();
const Strategy& ResourceClaimStrategy();
const Strategy& ResourceClaimTemplateStrategy();
const Strategy& ResourceQuotaStrategy();
const Strategy& ResourceSliceStrategy();
const Strategy& RoleStrategy();
const Strategy& RoleBindingStrategy();
const Strategy& RuntimeClassStrategy();
const Strategy& SecretStrategy();
const Strategy& ServiceStrategy();
const Strategy& ServiceAccountStrategy();
const Strategy& ServiceCidrStrategy();
const Strategy& StatefulSetStrategy();
const Strategy& StorageClassStrategy();
const Strategy& ValidatingAdmissionPolicyStrategy();
const Strategy& VolumeAttachmentStrategy();
const Strategy& VolumeAttributesClassStrategy();
const Strategy& WebhookConfigurationStrategy();

}  // namespace terrarium::apiserver
