// The kinds without rules of their own.

#include "apiserver/strategies.h"
#include "apiserver/strategy/internal/plain_kind.h"

namespace terrarium::apiserver {

using strategy::Generation;
using strategy::PlainKind;

const Strategy& GenericStrategy(bool has_status) {
  static const PlainKind with_status({.status = true, .generation = Generation::kSpec});
  static const PlainKind without_status({.generation = Generation::kSpec});
  return has_status ? with_status : without_status;
}

const Strategy& AdmissionPolicyStrategy() {
  static const PlainKind kind({.generation = Generation::kSpec, .unconditional_update = false});
  return kind;
}

const Strategy& ValidatingAdmissionPolicyStrategy() {
  static const PlainKind kind(
      {.status = true, .generation = Generation::kSpec, .unconditional_update = false});
  return kind;
}

const Strategy& WebhookConfigurationStrategy() {
  static const PlainKind kind({.generation = Generation::kContent, .unconditional_update = false});
  return kind;
}

const Strategy& CsiNodeStrategy() {
  static const PlainKind kind({.unconditional_update = false});
  return kind;
}

const Strategy& CsiStorageCapacityStrategy() { return CsiNodeStrategy(); }

const Strategy& VolumeAttachmentStrategy() {
  static const PlainKind kind({.status = true, .unconditional_update = false});
  return kind;
}

const Strategy& FlowControlStrategy() {
  static const PlainKind kind({.status = true, .generation = Generation::kSpec});
  return kind;
}

const Strategy& DeviceClassStrategy() {
  static const PlainKind kind({.generation = Generation::kSpec});
  return kind;
}

}  // namespace terrarium::apiserver
