#pragma once

// What is particular to a kind. One file per kind in strategy/; the verbs do everything else in one order:
//
//   create:  decode, table defaults, Default(), metadata, drop gated fields, PrepareForCreate(), Validate()
//   update:  decode, table defaults, Default(), metadata, drop gated fields, PrepareForUpdate(), generation, Validate-
//            Update()
//   status:  the same with PrepareForStatusUpdate() and ValidateStatusUpdate(); all but status and metadata is the old
//            one's already
//
// Validation covers metadata as well, in the order in which Kubernetes reports it for the kind.
// Strategies are stateless. Documents are normalised (api/codec/decode.h): unknown fields are gone, present fields have
// their declared type, nulls are gone.

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

struct StrategyContext {
  const api::FeatureGates& gates;
  api::Time now;
};

// Which names a kind takes; prefix: a generateName is checked with a valid letter standing for the suffix.
using NameCheck = std::vector<std::string> (*)(std::string_view name, bool prefix);

// A field that field selectors can name besides metadata.name and metadata.namespace.
struct SelectableField {
  std::string_view label;  // e.g. "spec.nodeName"
  std::string (*value)(const Json& object);
};

class Strategy {
 public:
  virtual ~Strategy() = default;

  // Defaults that depend on other fields; the static ones come from the schema tables and are already there.
  virtual void Default(Json& object) const;

  virtual void PrepareForCreate(const StrategyContext& context, Json& object) const;
  virtual FieldErrors Validate(const StrategyContext& context, const Json& object) const = 0;
  virtual void PrepareForUpdate(const StrategyContext& context, Json& object, const Json& old) const;
  virtual FieldErrors ValidateUpdate(const StrategyContext& context, const Json& object, const Json& old) const = 0;
  virtual void PrepareForStatusUpdate(const StrategyContext& context, Json& object, const Json& old) const;
  virtual FieldErrors ValidateStatusUpdate(const StrategyContext& context, const Json& object, const Json& old) const;

  // Texts for Warning headers, on create (`old` null) and update.
  virtual std::vector<std::string> Warnings(const StrategyContext& context, const Json& object, const Json* old) const;

  // Status is a subresource: cleared on create, kept on update of the main resource.
  virtual bool HasStatus() const { return true; }
  // metadata.generation is kept: 1 on create, +1 when the spec changes.
  virtual bool HasGeneration() const { return true; }
  // True when an update changes what the generation counts. By default: the spec differs (and so for deletion).
  virtual bool BumpsGeneration(const Json& object, const Json& old) const;

  virtual NameCheck NameRule() const;
  virtual bool AllowCreateOnUpdate() const { return false; }
  // An update without resourceVersion is allowed.
  virtual bool AllowUnconditionalUpdate() const { return true; }

  virtual std::span<const SelectableField> SelectableFields() const { return {}; }
  // Of kinds that are written often: what of an object the rules of a status update, and of a deletion, look at. The
  // members that are named whole are what such a write can change; all others keep their stored text. Empty: everything.
  virtual std::span<const api::Keep> ReadForStatusUpdate() const { return {}; }
  virtual std::span<const api::Keep> ReadForDeletion() const { return {}; }
  // What a delete that names no propagationPolicy does to dependents: orphan (Jobs, ReplicationControllers) or
  // background.
  virtual bool OrphansDependentsByDefault() const { return false; }
  // What a client that relies on that default is told in a Warning header, or "".
  virtual std::string_view OrphanByDefaultWarning() const { return ""; }
  // A delete answers with the deleted object instead of a Status.
  virtual bool ReturnsDeletedObject() const { return false; }
};

}  // namespace terrarium::apiserver
