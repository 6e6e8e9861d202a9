#pragma once

// The shapes that several keys of a scenario have.

#include "testbed/scenario/shape.h"

namespace terrarium::testbed::scenario {

const Shape& AnyText();
const Shape& AnyBoolean();
const Shape& Anything();
const Shape& AnyObject();
const Shape& Texts();         // a list of them
const Shape& NotNegative();   // a whole number
const Shape& Positive();      // the same, from 1 on
const Shape& DurationText();  // "90s"
const Shape& TimeText();      // RFC 3339
const Shape& SelectorText();  // "app=web,tier!=db"
const Shape& LikeText();      // a text in which * stands for anything
const Shape& Target();        // KIND or KIND/NAME
const Shape& Manifests();     // an object, or a list of them
const Shape& ComponentName();
const Shape& GateValues();  // {GateName: true}
const Shape& NumberRule();  // 3, or {atLeast: 2, atMost: 4}
const Shape& Span();        // a duration, or "end"
const Shape& ScriptKeys();  // {start-delay: 2s}

// The bounds of a NumberRule. REQUIRES: it has that shape.
struct Bounds {
  double least;
  double most;
  bool Allows(double value) const { return value >= least && value <= most; }
  std::string String() const;  // "3", "at least 2", "2 to 4"
};
Bounds BoundsOf(const Json& rule);

}  // namespace terrarium::testbed::scenario
