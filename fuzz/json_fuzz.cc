// Bodies in JSON, of a kind that the first byte chooses.

#include "api/codec/decode.h"
#include "api/codec/normalize.h"
#include "fuzz/property.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace terrarium;
  fuzz::Input input(data, size);
  const api::Message& message = input.TakeKind();
  const api::Decoded decoded = api::DecodeJson(input.text(), message);
  const api::Decoded any = api::DecodeJson(input.text());
  fuzz::Require(decoded.strict_errors.size() <= api::kMaxStrictErrors, "strict errors are limited");
  if (decoded.error) {
    fuzz::Require(!decoded.error->message.empty(), "an error has words");
    fuzz::Require(decoded.object.is_null(), "an error comes without a document");
    return 0;
  }
  fuzz::Require(!any.error.has_value(), "a document of a kind is JSON");
  api::Json normalized = any.object;
  fuzz::Require(!api::Normalize(message, normalized, nullptr).has_value(),
                "normalising agrees with decoding");
  fuzz::RequireSameAfterJson(message, decoded.object);
  fuzz::RequireSameAfterProtobuf(message, decoded.object);
  return 0;
}
