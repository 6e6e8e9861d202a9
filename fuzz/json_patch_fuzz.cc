// JSON patches, applied to a Deployment.

#include <utility>

#include "api/codec/decode.h"
#include "api/codec/normalize.h"
#include "api/patch/json_patch.h"
#include "fuzz/property.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace terrarium;
  const api::Decoded patch = api::DecodeJson(fuzz::Input(data, size).text(), {.strict = false});
  if (patch.error) return 0;
  const api::Json before = patch.object;
  api::Result<api::Json> patched = api::ApplyJsonPatch(fuzz::SampleDeployment(), patch.object);
  fuzz::Require(patch.object == before, "the patch is left as it was");
  fuzz::Require(api::JsonPatchUnknownFields(patch.object).size() <= api::kMaxStrictErrors,
                "strict errors are limited");
  if (!patched) {
    fuzz::Require(patched.status().code >= 400 && !patched.status().message.empty(), "a failure is a Status");
    return 0;
  }
  api::Result<api::Json> again = api::ApplyJsonPatch(fuzz::SampleDeployment(), patch.object);
  fuzz::Require(again.ok() && *again == *patched, "a patch gives the same document each time");
  if (patched->is_object()) (void)api::Normalize(fuzz::DeploymentSchema(), *patched, nullptr).has_value();
  return 0;
}
