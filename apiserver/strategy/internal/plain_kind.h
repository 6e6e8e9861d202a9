#pragma once

// The strategy of a kind whose content no controller here interprets: metadata and the rules that every kind
// has are checked, and the content is kept as the client sends it. A kind with rules of its own derives from
// it and adds them.

#include "apiserver/strategy.h"
#include "apiserver/strategy/internal/checks.h"

namespace terrarium::apiserver::strategy {

// What increments metadata.generation.
enum class Generation {
  kNone,     // the kind has no generation
  kFixed,    // 1 on create, and nothing increments it
  kSpec,     // a change of spec
  kContent,  // a change of anything but metadata and status
};

struct PlainRules {
  bool status = false;
  Generation generation = Generation::kNone;
  bool create_on_update = false;
  bool unconditional_update = true;
  NameCheck name_rule = NameIsDnsSubdomain;
};

class PlainKind : public Strategy {
 public:
  explicit PlainKind(PlainRules rules) : rules_(rules) {}

  bool HasStatus() const final { return rules_.status; }
  bool HasGeneration() const final { return rules_.generation != Generation::kNone; }
  bool BumpsGeneration(const Json& object, const Json& old) const override;
  NameCheck NameRule() const final { return rules_.name_rule; }
  bool AllowCreateOnUpdate() const final { return rules_.create_on_update; }
  bool AllowUnconditionalUpdate() const final { return rules_.unconditional_update; }

  FieldErrors Validate(const StrategyContext& context, const Json& object) const final;
  FieldErrors ValidateUpdate(const StrategyContext& context, const Json& object, const Json& old) const final;
  FieldErrors ValidateStatusUpdate(const StrategyContext& context, const Json& object,
                                   const Json& old) const override;

 protected:
  // The rules of the content. `old` is the object that an update replaces, or null on create.
  virtual void Check(const Json& object, const Json* old, FieldErrors& errors) const;

 private:
  PlainRules rules_;
};

}  // namespace terrarium::apiserver::strategy
