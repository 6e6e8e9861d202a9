// Field selectors of pods and of Events as queries have them.

#include "api/selector/field_selector.h"
#include "fuzz/property.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace terrarium;
  static constexpr std::string_view kPodFields[] = {"spec.restartPolicy", "status.podIP"};
  static constexpr std::string_view kEventFields[] = {"reason", "type"};
  const std::string_view input = fuzz::Input(data, size).text();
  for (const api::FieldSelectorScope& scope :
       {api::FieldSelectorScope{"", "Pod", kPodFields}, api::FieldSelectorScope{"", "Event", kEventFields}}) {
    const auto selector = api::FieldSelector::Parse(input, scope);
    if (!selector) {
      fuzz::Require(selector.status().code == 400 && !selector.status().message.empty(),
                    "a failure is a bad request");
      continue;
    }
    const std::string text = selector->String();
    const auto again = api::FieldSelector::Parse(text, scope);
    fuzz::Require(again.ok(), "a selector's text can be read");
    fuzz::Require(again->String() == text, "a selector's text is a fixed point");
  }
  return 0;
}
