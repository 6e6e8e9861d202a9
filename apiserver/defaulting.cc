#include "apiserver/defaulting.h"

#include <utility>

#include "api/base/field_error.h"
#include "api/json_access.h"

namespace terrarium::apiserver {
namespace {

using api::Cardinality;
using api::Field;
using api::Json;
using api::Message;
using api::Path;

// The key that pairs an item of a list with its predecessor; empty when position has to do.
std::string_view PairingKey(const Field& field) {
  if (!field.def.patch_merge_key.empty()) return field.def.patch_merge_key;
  return field.def.list_map_keys.substr(0, field.def.list_map_keys.find(','));
}

class GateWalk {
 public:
  explicit GateWalk(const api::FeatureGates& gates) : gates_(gates) {}

  void Walk(const Message& message, Json& object, const Json* old, const Path& path) {
    if (!message.has_gates() || !object.is_object()) return;
    for (const Field& field : message.fields()) {
      const bool below = field.message != nullptr && field.message->has_gates();
      if (field.gate.empty() && !below) continue;
      auto it = object.find(field.name());
      const Json* old_value = old == nullptr ? nullptr : api::Find(*old, field.name());
      if (it == object.end() && old_value == nullptr) continue;
      const Path here = path.Child(field.name());
      if (!field.gate.empty()) {
        const bool on = gates_.Enabled(field.gate);
        if (it == object.end())
          Note(GatedField::kVanished, field, here);
        else if (!on)
          Note(old_value == nullptr ? GatedField::kDropped : GatedField::kKept, field, here);
        else if (old != nullptr && old_value == nullptr)
          Note(GatedField::kAppeared, field, here);
        if (it != object.end() && !on && old_value == nullptr) {
          object.erase(it);
          continue;
        }
      }
      if (below && it != object.end()) Descend(field, *it, old_value, here);
    }
  }

  std::vector<GateNote> Take() { return std::move(notes_); }

 private:
  void Note(GatedField what, const Field& field, const Path& path) {
    notes_.push_back({what, path.String(), std::string(field.gate)});
  }

  void Descend(const Field& field, Json& value, const Json* old, const Path& path) {
    if (field.def.cardinality == Cardinality::kSingle) {
      Walk(*field.message, value, old, path);
    } else if (field.def.cardinality == Cardinality::kMap && value.is_object()) {
      for (auto it = value.begin(); it != value.end(); ++it)
        Walk(*field.message, *it, old == nullptr ? nullptr : api::Find(*old, it.key()), path.Key(it.key()));
    } else if (value.is_array()) {
      const std::string_view key = PairingKey(field);
      for (std::size_t i = 0; i < value.size(); ++i)
        Walk(*field.message, value[i], OldItem(value[i], i, old, key), path.Index(i));
    }
  }

  static const Json* OldItem(const Json& item, std::size_t index, const Json* old, std::string_view key) {
    if (old == nullptr || !old->is_array()) return nullptr;
    if (key.empty()) return index < old->size() ? &(*old)[index] : nullptr;
    const Json* wanted = api::Find(item, key);
    for (const Json& candidate : *old) {
      const Json* has = api::Find(candidate, key);
      if (wanted != nullptr && has != nullptr && *wanted == *has) return &candidate;
    }
    return nullptr;
  }

  const api::FeatureGates& gates_;
  std::vector<GateNote> notes_;
};

}  // namespace

std::vector<GateNote> DropGatedFields(const Message& message, Json& object, const Json* old,
                                      const api::FeatureGates& gates) {
  GateWalk walk(gates);
  walk.Walk(message, object, old, Path());
  return walk.Take();
}

}  // namespace terrarium::apiserver
