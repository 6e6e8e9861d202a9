// Label selectors as queries have them.

#include "api/selector/label_selector.h"
#include "fuzz/property.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace terrarium;
  const auto selector = api::LabelSelector::Parse(fuzz::Input(data, size).text());
  if (!selector) {
    fuzz::Require(selector.status().code == 400 && !selector.status().message.empty(),
                  "a failure is a bad request");
    return 0;
  }
  const std::string text = selector->String();
  const auto again = api::LabelSelector::Parse(text);
  fuzz::Require(again.ok(), "a selector's text can be read");
  fuzz::Require(*again == *selector, "a selector's text reads as the same selector");
  fuzz::Require(again->String() == text, "a selector's text is a fixed point");
  const api::Json labels = {{"a", "1"}, {"app", "web"}, {"b", ""}};
  fuzz::Require(again->Matches(labels) == selector->Matches(labels), "equal selectors match the same");
  return 0;
}
