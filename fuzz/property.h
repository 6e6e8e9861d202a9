#pragma once

// What the fuzz targets share: how a property fails, and the kinds that documents are read as.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "api/json.h"
#include "api/schema/schema.h"

namespace terrarium::fuzz {

// Ends the process when `holds` is false, which libFuzzer reports with the input.
void Require(bool holds, const char* property);

// The input, whose first byte chooses a kind where the target wants one.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : text_(reinterpret_cast<const char*>(data), size) {}

  std::string_view text() const { return text_; }
  // Takes the first byte.
  const api::Message& TakeKind();
  // Takes what stands before the next zero byte, and that.
  std::string_view TakeText();

 private:
  std::string_view text_;
};

// A Deployment that uses every way in which strategic merge treats lists and objects.
const api::Json& SampleDeployment();
const api::Message& DeploymentSchema();

// The document's JSON text reads as the same document.
void RequireSameAfterJson(const api::Message& message, const api::Json& document);
// Its protobuf form, without kind and apiVersion, does as well.
void RequireSameAfterProtobuf(const api::Message& message, api::Json document);

}  // namespace terrarium::fuzz
