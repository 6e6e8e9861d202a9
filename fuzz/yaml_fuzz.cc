// YAML: one document as a body has it, a stream as a manifest has it, and places as scenario files need them.

#include <optional>
#include <string>

#include "api/codec/yaml.h"
#include "fuzz/property.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace terrarium;
  const std::string_view text = fuzz::Input(data, size).text();
  std::string error;
  const std::optional<api::YamlDocument> document = api::ParseYaml(text, &error);
  fuzz::Require(document.has_value() || !error.empty(), "an error has words");
  api::YamlMistake mistake;
  const auto stream = api::ParseYamlStream(text, &error);
  const auto placed = api::ParsePlacedYaml(text, &mistake);
  fuzz::Require(stream.has_value() == placed.has_value(), "a stream reads the same with places and without");
  if (placed)
    for (std::size_t i = 0; i < placed->size(); ++i)
      fuzz::Require((*placed)[i].document.value == (*stream)[i].value, "places change no value");
  if (!document) return 0;
  const std::string written = api::WriteYaml(document->value);
  const std::optional<api::YamlDocument> again = api::ParseYaml(written, &error);
  fuzz::Require(again.has_value(), "YAML that was written can be read");
  fuzz::Require(again->value == document->value, "reading, writing and reading YAML gives the same value");
  return 0;
}
