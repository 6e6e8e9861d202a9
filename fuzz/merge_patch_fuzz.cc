// JSON merge patches, applied to a Deployment.

#include <utility>

#include "api/codec/decode.h"
#include "api/codec/normalize.h"
#include "api/patch/merge_patch.h"
#include "fuzz/property.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace terrarium;
  const api::Decoded patch = api::DecodeJson(fuzz::Input(data, size).text(), {.strict = false});
  if (patch.error) return 0;
  api::Result<api::Json> patched = api::ApplyMergePatch(fuzz::SampleDeployment(), patch.object);
  if (!patched) {
    fuzz::Require(patched.status().code >= 400 && !patched.status().message.empty(), "a failure is a Status");
    return 0;
  }
  for (auto it = patch.object.begin(); it != patch.object.end(); ++it)
    fuzz::Require(patched->contains(it.key()) == !it->is_null(),
                  "a member is there unless the patch removes it");
  api::Json once = *patched;
  if (api::Normalize(fuzz::DeploymentSchema(), once, nullptr)) return 0;
  fuzz::RequireSameAfterJson(fuzz::DeploymentSchema(), once);
  return 0;
}
