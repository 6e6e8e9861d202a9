#pragma once

// A field of a status that the apiserver may drop, since its gate is on here and off there: version skew. Written again
// and again it would never be there. So once it was seen to be dropped, a status that lacks nothing but it is not worth
// a write; with the next one that is, it is sent again, and seen when it is kept. Single-threaded.
//
// DIVERGES: Kubernetes' controllers send such a status with every sync, and the apiserver stores nothing.

#include <string>
#include <utility>

#include "api/json.h"
#include "api/json_access.h"
#include "api/object.h"

namespace terrarium::controllers {

class DroppedField {
 public:
  explicit DroppedField(std::string name) : name_(std::move(name)) {}

  // Whether there is anything to write where `stored` is and `wanted` should be.
  bool MustWrite(const api::Json& stored, const api::Json& wanted) const {
    if (stored == wanted) return false;
    if (!dropped_ || stored.contains(name_) || !wanted.contains(name_)) return true;
    api::Json without = wanted;
    without.erase(name_);
    return stored != without;
  }
  // `answer`: the object whose status was `stored` and is what the apiserver made of `sent`.
  void Written(const api::Json& stored, const api::Json& sent, const api::Object& answer) {
    if (!sent.contains(name_)) return;
    // What is there is kept, whatever the apiserver's gates.
    dropped_ = !stored.contains(name_) && !api::ObjectAt(*answer.Document(), "status").contains(name_);
  }

 private:
  std::string name_;
  bool dropped_ = false;
};

}  // namespace terrarium::controllers
