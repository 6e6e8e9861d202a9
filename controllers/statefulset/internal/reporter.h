#pragma once

// Records Events about a StatefulSet under Kubernetes' reasons, and the reasons of its controller's
// decisions.

#include <memory>
#include <string>
#include <string_view>

#include "api/base/status.h"
#include "api/json.h"
#include "api/object.h"
#include "controllers/controller.h"

namespace terrarium::controllers::statefulset {

// Why something is done for a set.
struct Decision {
  api::ObjectPtr set;
  std::string rule;
  std::shared_ptr<const api::Json> saw;
};

class Reporter {
 public:
  explicit Reporter(const ControllerContext& context) : context_(context) {}

  // `verb` is "Create", "Update" or "Delete"; `error` is nullptr for a success.
  void PodEvent(const api::Object& set, std::string_view verb, std::string_view pod,
                const api::Status* error) const;
  void ClaimEvent(const api::Object& set, std::string_view verb, std::string_view claim, std::string_view pod,
                  const api::Status* error) const;
  void Warn(const api::Object& set, std::string_view reason, std::string message) const;

  void Explain(const Decision& decision, std::string_view action, std::string_view resource,
               const std::string& object) const;

 private:
  void Record(const api::Object& set, std::string_view verb, std::string message, bool failed) const;

  ControllerContext context_;
};

}  // namespace terrarium::controllers::statefulset
