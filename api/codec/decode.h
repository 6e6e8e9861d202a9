#pragma once

// JSON text to documents, with the checks and the error texts of Kubernetes' decoder.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "api/schema/schema.h"

namespace terrarium::api {

struct DecodeError {
  // kSyntax: not JSON at all. kType: JSON, but a value has the wrong type or form.
  enum class Kind { kSyntax, kType };
  Kind kind = Kind::kSyntax;
  std::string message;  // in the words of Go's decoder
};

struct DecodeOptions {
  // Whether strict_errors is filled. Without it unknown fields are dropped and the last of several equal keys
  // wins, silently (fieldValidation=Ignore).
  bool strict = true;
};

struct Decoded {
  std::optional<DecodeError> error;
  Json object;  // normalized; null when there is an error
  // `unknown field "spec.replicaz"` and `duplicate field "data.a"` in document order; at most 100, each once.
  std::vector<std::string> strict_errors;
};

// Deepest nesting of objects and arrays that is read, as in Go.
inline constexpr std::size_t kMaxJsonDepth = 10000;

// Parses `text` as a document of `message` and normalizes it (normalize.h).
Decoded DecodeJson(std::string_view text, const Message& message, const DecodeOptions& options = {});

// Parses any JSON; reports duplicate keys only.
Decoded DecodeJson(std::string_view text, const DecodeOptions& options = {});

// The apiVersion and kind of a document whose type is not known yet. Nothing is built for the rest of it.
struct TypeMeta {
  std::string api_version;
  std::string kind;
};
[[nodiscard]] std::optional<DecodeError> PeekTypeMeta(std::string_view text, TypeMeta* out);

}  // namespace terrarium::api
