#pragma once

// The steps between a decoded document and the store, in the one order that strategy.h describes.

#include <functional>
#include <span>
#include <string>

#include "api/base/status.h"
#include "apiserver/internal/call.h"

namespace terrarium::apiserver {

// Static and dependent defaults. `object` is normalised.
void ApplyAllDefaults(const ResourceInfo& resource, Json& object);

// Checks that an object may be created in its namespace at all (it exists and is not going away).
api::Result<bool> AdmitToNamespace(const Call& call, std::string_view name);

// Makes a decoded, defaulted document ready to be stored as new: system fields, gates, strategy, validation.
api::Result<Json> PrepareNew(Call& call, Json object);

// Makes a decoded, defaulted document ready to replace `old`.
api::Result<Json> PrepareReplacement(Call& call, Json object, const Json& old);

// The call has written `object`, or found that it stands there already: what it did to fields that have a gate is told.
void TellGateLog(const Call& call, const api::Object& object);

// The stored form of a document.
api::ObjectPtr MakeObject(const ResourceInfo& resource, Json document);
// An error when the object is larger than etcd would take, in etcd's words and with the code that clients know it by.
api::Result<bool> CheckSize(const Call& call, const api::Object& object);

// What to do with the current object.
struct Change {
  enum class Action { kWrite, kDelete, kNothing };
  Action action = Action::kNothing;
  Json document;  // kWrite: the new state. kDelete: the last state, or null for the current one.
};
using Changer = std::function<api::Result<Change>(const api::ObjectPtr& current, const Json& document)>;
// `object`: as written, as it was last (deleted = true), or the current one when nothing had to be written.
struct Changed {
  api::ObjectPtr object;
  bool deleted = false;
};
using ChangeDone = std::function<void(api::Result<Changed>)>;

struct ChangeTarget {
  const ResourceInfo& resource;
  storage::ObjectKey key;
  bool dry_run = false;  // everything but the write happens
  // What the changer looks at, see Strategy; empty: everything.
  std::span<const api::Keep> read = {};
};

// Reads the object, asks `changer` what to write, and writes it if nobody wrote in between; otherwise again. A document
// equal to the current one is not written: no write without a change.
void ChangeObject(const CallPtr& call, ChangeTarget target, Changer changer, ChangeDone done);
// The target of the call's own path.
ChangeTarget OwnTarget(const Call& call, bool dry_run);

// After an update of an object that is being deleted: true when nothing holds it any more.
bool IsReadyToGo(const ResourceInfo& resource, const Json& document);

}  // namespace terrarium::apiserver
