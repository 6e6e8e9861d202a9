#pragma once

// The steps between a decoded document and the store, in the order that strategy.h describes.

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "api/base/status.h"
#include "apiserver/internal/call.h"
#include "apiserver/internal/etcd_words.h"
#include "apiserver/internal/field_owners.h"

namespace terrarium::apiserver {

// Applies the static defaults and those that depend on other fields. REQUIRES: `object` is normalised.
void ApplyAllDefaults(const ResourceInfo& resource, Json& object);

// Checks that objects can be created in the call's namespace: it exists and is not being deleted.
api::Result<void> AdmitToNamespace(const Call& call, std::string_view name);

// A document that is ready to be stored, and the owners of its fields.
struct Prepared {
  Json document;
  api::ManagedFieldsPtr owners;
};

// Prepares a decoded, defaulted document for creation: system fields, gates, strategy, validation.
api::Result<Prepared> PrepareNew(Call& call, Json object, const OwnersRule& owners);

// Prepares a decoded, defaulted document to replace `old`.
api::Result<Prepared> PrepareReplacement(Call& call, Json object, const Json& old, const OwnersRule& owners);

// Records in the gate log what the call did to fields that have a feature gate. `object` is the object that
// the call wrote, or the stored object if the write was a no-op.
void RecordGateNotes(const Call& call, const api::Object& object);

// The stored form of a document.
api::ObjectPtr MakeObject(const ResourceInfo& resource, Prepared prepared);

// The decision of a Changer about the current object.
struct Change {
  enum class Action { kWrite, kDelete, kNothing };
  Action action = Action::kNothing;
  Json document = {};  // kWrite: the new state. kDelete: the last state, or null for the current one.
  std::optional<api::ManagedFieldsPtr> owners = {};  // nullopt: those of the current object
};
using Changer = std::function<api::Result<Change>(const api::ObjectPtr& current, const Json& document)>;
// `object` is the object as written, its last state if it was deleted, or the current object if the write was
// a no-op.
struct Changed {
  api::ObjectPtr object;
  bool deleted = false;
};
using ChangeDone = std::function<void(api::Result<Changed>)>;

struct ChangeTarget {
  const ResourceInfo& resource;
  storage::ObjectKey key;
  bool dry_run = false;  // do everything but the write
  // Of an applied configuration. Another write loses the owners when they make the object too large.
  bool owners_required = false;
  // The members that the changer reads, see Strategy::ReadForStatusUpdate(); empty: all members.
  std::span<const api::Keep> read = {};
};

// Reads the object, asks `changer` what to write, and writes it. If another writer changed the object in
// between, tries again with the new state. A document that equals the current one is not written.
void ChangeObject(const CallPtr& call, ChangeTarget target, Changer changer, ChangeDone done);
// The object that the path of the call names.
ChangeTarget OwnTarget(const Call& call, bool dry_run);

// The object itself, or without its owners if it is too large to be stored with them and they are not
// required. Otherwise the error of etcd.
api::Result<api::ObjectPtr> FitIntoEtcd(const Call& call, const ResourceInfo& resource, api::ObjectPtr object,
                                        EtcdWrite write, bool owners_required);

// True if the object is being deleted and can be removed: no finalizer holds it and, except for namespaces,
// no grace period does.
bool IsReadyToGo(const ResourceInfo& resource, const Json& document);

}  // namespace terrarium::apiserver
