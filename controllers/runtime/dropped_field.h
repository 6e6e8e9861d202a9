#pragma once

// A number in statuses that the apiserver may drop, since its gate is on here and off there: version skew.
// Written again and again it would never be there. So once an object's was seen to be dropped, a status that
// lacks nothing but that very number is not worth a write. Another number, or a status that differs
// elsewhere, is sent, and so it is noticed when the apiserver keeps it. Single-threaded.
//
// DIVERGES: Kubernetes' controllers send such a status with every sync, and the apiserver stores nothing.

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "api/json.h"
#include "api/json_access.h"
#include "api/object.h"

namespace terrarium::controllers {

class DroppedField {
 public:
  explicit DroppedField(std::string name) : name_(std::move(name)) {}

  // Whether there is anything to write where the object's status is `stored` and should be `wanted`.
  bool MustWrite(const api::Object& object, const api::Json& stored, const api::Json& wanted) const {
    if (stored == wanted) return false;
    auto dropped = dropped_.find(object.header().uid);
    if (dropped == dropped_.end() || stored.contains(name_) || !wanted.contains(name_)) return true;
    if (wanted[name_] != dropped->second) return true;
    api::Json without = wanted;
    without.erase(name_);
    return stored != without;
  }
  // `answer`: the object whose status was `stored` and is now what the apiserver made of `sent`.
  void Written(const api::Object& answer, const api::Json& stored, const api::Json& sent) {
    // What is there is kept, whatever the apiserver's gates.
    const bool may_be_dropped = sent.contains(name_) && !stored.contains(name_);
    if (may_be_dropped && !api::ObjectAt(*answer.Document(), "status").contains(name_))
      dropped_[answer.header().uid] = sent[name_].get<std::int64_t>();
    else
      Forget(answer);
  }
  void Forget(const api::Object& object) { dropped_.erase(object.header().uid); }

 private:
  std::string name_;
  std::map<std::string, std::int64_t> dropped_;  // by uid
};

}  // namespace terrarium::controllers
