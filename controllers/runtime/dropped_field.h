#pragma once

// A status field that the apiserver drops if its gate is on in this component and off in the apiserver
// (version skew). The controller would write it with every sync. Therefore, once the field of an object was
// dropped, a status that differs only in that same value is not written. Another value, or another
// difference, is written, which also shows when the apiserver keeps the field. Single-threaded.
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

  // Whether to write `wanted` over the object's status `stored`.
  bool MustWrite(const api::Object& object, const api::Json& stored, const api::Json& wanted) const {
    if (stored == wanted) return false;
    auto dropped = dropped_.find(object.header().uid);
    if (dropped == dropped_.end() || stored.contains(name_) || !wanted.contains(name_)) return true;
    if (wanted[name_] != dropped->second) return true;
    api::Json without = wanted;
    without.erase(name_);
    return stored != without;
  }
  // Records the apiserver's response to a write of `sent` over `stored`.
  void Written(const api::Object& answer, const api::Json& stored, const api::Json& sent) {
    // An existing field is kept under all gates.
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
