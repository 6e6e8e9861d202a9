#pragma once

// One strategy per kind, each in strategy/<kind>.cc; the instances live as long as the program.

#include "apiserver/strategy.h"

namespace terrarium::apiserver {

const Strategy& ConfigMapStrategy();
const Strategy& ControllerRevisionStrategy();
const Strategy& CronJobStrategy();
const Strategy& DaemonSetStrategy();
const Strategy& DeploymentStrategy();
const Strategy& EventStrategy();
// For a kind without rules of its own, with a status subresource or without.
const Strategy& GenericStrategy(bool has_status);
const Strategy& JobStrategy();
const Strategy& LeaseStrategy();
const Strategy& NamespaceStrategy();
const Strategy& NodeStrategy();
const Strategy& PodDisruptionBudgetStrategy();
const Strategy& PodStrategy();
const Strategy& ReplicaSetStrategy();
const Strategy& ReplicationControllerStrategy();
const Strategy& ResourceQuotaStrategy();
const Strategy& SecretStrategy();
const Strategy& ServiceAccountStrategy();
const Strategy& ServiceStrategy();
const Strategy& StatefulSetStrategy();

}  // namespace terrarium::apiserver
