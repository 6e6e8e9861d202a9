// Sets of fields as clients may send them in metadata.managedFields.

#include <optional>
#include <string>

#include "api/apply/fields_v1.h"
#include "api/codec/decode.h"
#include "fuzz/property.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace terrarium;
  const api::Decoded decoded = api::DecodeJson(fuzz::Input(data, size).text(), {.strict = false});
  if (decoded.error) return 0;
  std::string error;
  const std::optional<api::FieldSetPtr> set = api::ReadFieldsV1(decoded.object, &error);
  if (!set) {
    fuzz::Require(!error.empty(), "an error has words");
    return 0;
  }
  std::string text;
  api::AppendFieldsV1(*set, text);
  const api::Decoded written = api::DecodeJson(text, {.strict = false});
  fuzz::Require(!written.error, "what is written is JSON");
  const std::optional<api::FieldSetPtr> again = api::ReadFieldsV1(written.object, &error);
  fuzz::Require(again.has_value(), "what is written can be read");
  fuzz::Require(api::Equal(*set, *again), "it is the same set");
  std::string settled;
  api::AppendFieldsV1(*again, settled);
  fuzz::Require(settled == text, "the written form is a fixed point");
  fuzz::Require(api::Equal(api::Union(*set, *again), *set), "a union with itself is the set");
  fuzz::Require(api::Difference(*set, *again) == nullptr, "a difference from itself is empty");
  fuzz::Require(api::Equal(api::Intern(*set), *set), "interning changes no set");
  api::ForEachPath(*set, [&](const api::FieldPath& path) {
    fuzz::Require(path.size() > 64 || api::Has(*set, path), "a set has its paths");
  });
  return 0;
}
