// Bodies in protobuf, of a kind that the first byte chooses: the envelope and the message.

#include <optional>
#include <string>

#include "api/codec/protobuf.h"
#include "fuzz/property.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace terrarium;
  fuzz::Input input(data, size);
  const api::Message& message = input.TakeKind();
  std::string error;
  std::string_view bytes = input.text();
  if (const auto envelope = api::OpenProtobufEnvelope(bytes, &error)) bytes = envelope->raw;
  const std::optional<api::Json> document = api::DecodeProtobufMessage(message, bytes, &error);
  if (!document) {
    fuzz::Require(!error.empty(), "an error has words");
    return 0;
  }
  fuzz::RequireSameAfterProtobuf(message, *document);
  fuzz::RequireSameAfterJson(message, *document);
  return 0;
}
