#pragma once

// The effect of decoding a document into Kubernetes' Go struct and encoding it again: unknown fields, nulls
// and empty values are dropped, required fields get their zero value, times and quantities their canonical
// form.

#include <optional>
#include <string>
#include <vector>

#include "api/json.h"
#include "api/schema/schema.h"

namespace terrarium::api {

// Rewrites `doc` in place. Returns the error of Go's decoder, in its words, when a value has the wrong type
// or form
// ("json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32"); `doc` is
// then unusable. Unknown fields are dropped and, when `strict_errors` is given, reported there in the order
// of their names
// (`unknown field "spec.replicaz"`), each once and at most 100.
[[nodiscard]] std::optional<std::string> Normalize(const Message& message, Json& doc,
                                                   std::vector<std::string>* strict_errors);

// How many strict errors Kubernetes collects.
inline constexpr std::size_t kMaxStrictErrors = 100;

// Adds a strict error the way Kubernetes collects them: no repeats, at most 100.
void AddStrictError(const char* kind, const std::string& path, std::vector<std::string>* errors);

}  // namespace terrarium::api
