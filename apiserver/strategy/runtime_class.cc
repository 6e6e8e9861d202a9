#include "apiserver/strategies.h"
#include "apiserver/strategy/internal/plain_kind.h"

namespace terrarium::apiserver {
namespace {

using namespace strategy;  // NOLINT: the helpers of this folder

class RuntimeClass final : public PlainKind {
 public:
  RuntimeClass() : PlainKind({.create_on_update = true, .unconditional_update = false}) {}

 private:
  void Check(const Json& object, const Json* old, FieldErrors& errors) const override {
    if (old != nullptr) return Immutable(errors, object, *old, "handler", Path());
    const std::string_view handler = StringAt(object, "handler");
    if (handler.empty())
      errors.push_back(api::RequiredError(Path("handler")));
    else
      AddInvalid(NameIsDnsLabel(handler, false), handler, Path("handler"), errors);
  }
};

}  // namespace

const Strategy& RuntimeClassStrategy() {
  static const RuntimeClass strategy;
  return strategy;
}

}  // namespace terrarium::apiserver
