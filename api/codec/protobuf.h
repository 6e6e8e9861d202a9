#pragma once

// Kubernetes' protobuf form (application/vnd.kubernetes.protobuf) of the documents that the schema tables
// describe.
//
// An object is sent as the four bytes "k8s\0" and a runtime.Unknown message that names its kind and holds its
// bytes. Those bytes follow the table of the kind, written as Kubernetes' generated code writes them: fields
// in the order of their numbers, plain scalars and embedded structs even when they are zero, repeated numbers
// unpacked, maps as entries sorted by key. Table and the other kinds without numbers have no protobuf form.

#include <optional>
#include <string>
#include <string_view>

#include "api/json.h"
#include "api/schema/schema.h"

namespace terrarium::api {

inline constexpr std::string_view kProtobufMagic{"k8s\0", 4};

// The outer message. `raw` points into the bytes that were given.
struct ProtobufEnvelope {
  std::string api_version;
  std::string kind;
  std::string_view raw;
  std::string content_type;  // empty: raw is protobuf
};

// nullopt, with Kubernetes' message in *error, when `bytes` is not an envelope.
std::optional<ProtobufEnvelope> OpenProtobufEnvelope(std::string_view bytes, std::string* error);

// Reads the bytes of one message, e.g. an envelope's `raw`. The result is normalized (normalize.h) and has no
// kind and apiVersion: protobuf keeps those in the envelope. nullopt and *error when the bytes are malformed.
std::optional<Json> DecodeProtobufMessage(const Message& message, std::string_view bytes, std::string* error);

// Writes one message. `doc` is normalized.
std::string EncodeProtobufMessage(const Message& message, const Json& doc);

// Reads the object in the envelope and sets its apiVersion and kind. REQUIRES: `message` is the schema of
// that kind.
std::optional<Json> DecodeProtobuf(const Message& message, const ProtobufEnvelope& envelope,
                                   std::string* error);

// Writes an object with its envelope; apiVersion and kind are taken from `doc`.
std::string EncodeProtobuf(const Message& message, const Json& doc);

// Puts the bytes of a message into an envelope.
std::string MakeProtobufEnvelope(std::string_view api_version, std::string_view kind, std::string_view raw);

// One frame of a protobuf watch stream: the length in four bytes, most significant first, and a
// metav1.WatchEvent whose object is `enveloped`, the result of EncodeProtobuf.
std::string EncodeProtobufWatchFrame(std::string_view event_type, std::string_view enveloped);

}  // namespace terrarium::api
