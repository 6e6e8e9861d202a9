#pragma once

// The rules of one kind. There is one file per kind in strategy/; the verbs do the rest, in this order:
//
//   create:  decode, table defaults, Default(), drop gated fields, owners of fields, metadata,
//            PrepareForCreate(), Validate()
//   update:  decode, table defaults, Default(), metadata, drop gated fields, owners of fields,
//            PrepareForUpdate(), generation, ValidateUpdate()
//   status:  like update, but without generation, with PrepareForStatusUpdate() and ValidateStatusUpdate().
//            PrepareForStatusUpdate() gets a document in which all but status and metadata is the old one.
//
// Validation covers metadata as well, in the order in which Kubernetes reports it for the kind. Strategies
// are stateless. Documents are normalised (api/codec/decode.h): they contain no unknown fields and no nulls,
// and all fields have their declared type.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/clock.h"
#include "api/base/feature_gates.h"
#include "api/base/field_error.h"
#include "api/json.h"
#include "api/json_text.h"

namespace terrarium::apiserver {

using api::FieldErrors;
using api::Json;

struct UserInfo;

struct StrategyContext {
  const api::FeatureGates& gates;
  api::Time now;
  const UserInfo* user = nullptr;     // who sent the request; null: the server itself
  std::string_view subresource = {};  // through which an update comes; empty: the main resource
};

// Validates a name and returns the errors. `prefix`: the name is a generateName, to which a suffix will be
// added.
using NameCheck = std::vector<std::string> (*)(std::string_view name, bool prefix);

// A field that field selectors can name, in addition to those that every header has: metadata.name,
// metadata.namespace, status.phase and spec.nodeName.
struct SelectableField {
  std::string_view label;  // e.g. "spec.restartPolicy"
  std::string (*value)(const Json& object);
};

class Strategy {
 public:
  virtual ~Strategy() = default;

  // Sets defaults that depend on other fields. The static defaults of the schema tables are set already.
  virtual void Default(Json& object) const;

  virtual void PrepareForCreate(const StrategyContext& context, Json& object) const;
  virtual FieldErrors Validate(const StrategyContext& context, const Json& object) const = 0;
  virtual void PrepareForUpdate(const StrategyContext& context, Json& object, const Json& old) const;
  virtual FieldErrors ValidateUpdate(const StrategyContext& context, const Json& object,
                                     const Json& old) const = 0;
  virtual void PrepareForStatusUpdate(const StrategyContext& context, Json& object, const Json& old) const;
  virtual FieldErrors ValidateStatusUpdate(const StrategyContext& context, const Json& object,
                                           const Json& old) const;

  // Texts for Warning headers, on create (`old` null) and update.
  virtual std::vector<std::string> Warnings(const StrategyContext& context, const Json& object,
                                            const Json* old) const;

  // Status is a subresource: cleared on create, kept on update of the main resource.
  virtual bool HasStatus() const { return true; }
  // The server maintains metadata.generation: 1 on create, +1 when BumpsGeneration() is true.
  virtual bool HasGeneration() const { return true; }
  // True if an update increments the generation. By default: the spec differs. Setting
  // deletionTimestamp increments it for every kind.
  virtual bool BumpsGeneration(const Json& object, const Json& old) const;

  virtual NameCheck NameRule() const;
  virtual bool AllowCreateOnUpdate() const { return false; }
  // An update without resourceVersion is allowed.
  virtual bool AllowUnconditionalUpdate() const { return true; }

  virtual std::span<const SelectableField> SelectableFields() const { return {}; }
  // For kinds that are written often: the members of an object that a status update, or a deletion, reads.
  // Such a write can change only the members that are named as a whole; all others keep their stored text.
  // Empty: all members.
  virtual std::span<const api::Keep> ReadForStatusUpdate() const { return {}; }
  virtual std::span<const api::Keep> ReadForDeletion() const { return {}; }
  // Whether a delete without propagationPolicy orphans dependents (Jobs, ReplicationControllers) or deletes
  // them in the background.
  virtual bool OrphansDependentsByDefault() const { return false; }
  // The Warning header for a client that relies on that default; empty: none.
  virtual std::string_view OrphanByDefaultWarning() const { return ""; }
  // A delete responds with the deleted object instead of a Status.
  virtual bool ReturnsDeletedObject() const { return false; }
};

}  // namespace terrarium::apiserver
