#include "api/core_v1/taint.h"

#include "api/json_access.h"

namespace terrarium::api {

bool IsTaint(const Json& taint, std::string_view key, std::string_view effect) {
  return StringAt(taint, "key") == key && StringAt(taint, "effect") == effect;
}

bool HasTaint(const Json& node, std::string_view key, std::string_view effect) {
  for (const Json& taint : ListAt(node, "spec", "taints"))
    if (IsTaint(taint, key, effect)) return true;
  return false;
}

bool Tolerates(const Json& toleration, const Json& taint) {
  const std::string_view effect = StringAt(toleration, "effect");
  if (!effect.empty() && effect != StringAt(taint, "effect")) return false;
  const std::string_view key = StringAt(toleration, "key");
  if (!key.empty() && key != StringAt(taint, "key")) return false;
  const std::string_view op = StringAt(toleration, "operator");
  if (op == "Exists") return true;
  return (op.empty() || op == "Equal") && StringAt(toleration, "value") == StringAt(taint, "value");
}

}  // namespace terrarium::api
