#include "controllers/statefulset/internal/reporter.h"

#include <utility>

namespace terrarium::controllers::statefulset {
namespace {

const EventRecorder::Source kSource{"statefulset-controller"};

std::string Text(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (std::string_view part : parts) text += part;
  return text;
}

}  // namespace

void Reporter::Record(const api::Object& set, std::string_view verb, std::string message, bool failed) const {
  context_.recorder.Record(kSource, ReferenceTo(set, "apps/v1", "StatefulSet"), failed ? kWarning : kNormal,
                           Text({failed ? "Failed" : "Successful", verb}), std::move(message));
}

void Reporter::PodEvent(const api::Object& set, std::string_view verb, std::string_view pod,
                        const api::Status* error) const {
  std::string message = Text({verb, " Pod ", pod, " in StatefulSet ", set.header().name});
  message += error == nullptr ? " successful" : " failed error: " + error->message;
  Record(set, verb, std::move(message), error != nullptr);
}

void Reporter::ClaimEvent(const api::Object& set, std::string_view verb, std::string_view claim,
                          std::string_view pod, const api::Status* error) const {
  const std::string_view link = error == nullptr ? " Pod " : " for Pod ";
  std::string message = Text({verb, " Claim ", claim, link, pod, " in StatefulSet ", set.header().name});
  message += error == nullptr ? " success" : " failed error: " + error->message;
  Record(set, verb, std::move(message), error != nullptr);
}

void Reporter::Warn(const api::Object& set, std::string_view reason, std::string message) const {
  context_.recorder.Record(kSource, ReferenceTo(set, "apps/v1", "StatefulSet"), kWarning, reason,
                           std::move(message));
}

void Reporter::Explain(const Decision& decision, std::string_view action, std::string_view resource,
                       const std::string& object) const {
  const api::ObjectName& set = decision.set->name();
  context_.why.Record({.time = context_.env.clock.Now(),
                       .revision = context_.informers.For("pods").Revision(),
                       .controller = "statefulset-controller",
                       .action = std::string(action),
                       .resource = std::string(resource),
                       .object = {set.ns, object},
                       .owner_resource = "statefulsets",
                       .owner = set,
                       .rule = decision.rule,
                       .saw = decision.saw});
}

}  // namespace terrarium::controllers::statefulset
