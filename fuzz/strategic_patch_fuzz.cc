// Strategic merge patches, and the patch that kubectl apply would send for the same text as an object,
// applied to a Deployment.

#include <utility>

#include "api/codec/decode.h"
#include "api/codec/normalize.h"
#include "api/patch/strategic_merge.h"
#include "api/patch/three_way.h"
#include "fuzz/property.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace terrarium;
  const api::Message& schema = fuzz::DeploymentSchema();
  const api::Decoded patch = api::DecodeJson(fuzz::Input(data, size).text(), {.strict = false});
  if (patch.error) return 0;
  api::Result<api::Json> patched =
      api::ApplyStrategicMergePatch(fuzz::SampleDeployment(), patch.object, schema);
  if (!patched) {
    fuzz::Require(patched.status().code >= 400 && !patched.status().message.empty(), "a failure is a Status");
  } else {
    api::Json once = *patched;
    if (!api::Normalize(schema, once, nullptr)) fuzz::RequireSameAfterJson(schema, once);
  }
  api::Json wanted = patch.object;
  if (!wanted.is_object() || api::Normalize(schema, wanted, nullptr)) return 0;
  const api::Json& current = fuzz::SampleDeployment();
  const api::Json changes = api::ThreeWayPatch({api::Json::object(), wanted, current}, schema);
  api::Result<api::Json> applied = api::ApplyStrategicMergePatch(current, changes, schema);
  if (applied)
    for (auto it = wanted.begin(); it != wanted.end(); ++it)
      fuzz::Require(it->is_null() || applied->contains(it.key()),
                    "what is wanted is there after it was applied");
  return 0;
}
