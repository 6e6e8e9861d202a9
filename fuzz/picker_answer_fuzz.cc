// What a downscale pod picker answers. The first byte is the status, up to a zero byte follows the content
// type.

#include <string>
#include <variant>

#include "controllers/replicaset/internal/pod_picker.h"
#include "fuzz/property.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace terrarium;
  using namespace terrarium::controllers::replicaset;
  const PickRequest request{.number = 2, .candidates = {"web-a", "web-b", "web-c"}};
  fuzz::Input input(data, size);
  api::HttpAnswer answer;
  const std::string_view status = input.TakeText();
  answer.status = status == "204" ? 204 : status == "301" ? 301 : status == "500" ? 500 : 200;
  answer.content_type = input.TakeText();
  answer.body = input.text();
  const PickResult result = ReadAnswer(answer, request);
  fuzz::Require(!OutcomeOf(result).empty(), "each answer has an outcome");
  if (const auto* fault = std::get_if<PickFault>(&result)) {
    fuzz::Require(!fault->message.empty(), "a fault has words");
    return 0;
  }
  const PickAnswer& picked = std::get<PickAnswer>(result);
  for (const auto* names : {&picked.chosen, &picked.tied})
    for (const std::string& name : *names)
      fuzz::Require(name.starts_with("web-") && name.size() == 5, "only candidates are named");
  for (const std::string& name : picked.chosen)
    fuzz::Require(!picked.tied.contains(name), "a pod that is chosen is not tied");
  answer.status = 200;
  answer.content_type = "application/json";
  answer.body = picked.ToJson().dump();
  const PickResult again = ReadAnswer(answer, request);
  fuzz::Require(std::holds_alternative<PickAnswer>(again), "an answer that was written can be read");
  fuzz::Require(
      std::get<PickAnswer>(again).chosen == picked.chosen && std::get<PickAnswer>(again).tied == picked.tied,
      "an answer reads as the same answer");
  return 0;
}
