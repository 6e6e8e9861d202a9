#pragma once

// Schemas: messages and their fields, indexed for lookup by name. The built-in schema merges the generated
// tables with our own declarations. It is built once per process, on first use (about a millisecond). Other
// schemas are made at run time, for kinds that clients add and remove. A schema is immutable, so all threads
// share it.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "api/schema/field_def.h"

namespace terrarium::api {

class Message;

// A field as the rest of the code sees it: the generated facts with our declarations resolved.
struct Field {
  FieldDef def;
  const Message* message = nullptr;  // resolved struct for FieldType::kMessage
  Json default_value = nullptr;      // null: no static default; see ApplyDefaults (defaulting.h)
  std::string_view gate{};           // feature gate that owns the field, or empty
  std::string_view embedded{};  // Go name of the embedded struct the field comes from, for Go's error texts
  std::string_view description{};  // for `kubectl explain`; empty when there is none yet

  bool Is(Presence p) const { return (def.presence & p) != 0; }
  std::string_view name() const { return def.name; }
  // Empty: not an enum. In the order Kubernetes prints them.
  std::span<const std::string_view> enum_values() const { return def.enum_values; }
  // True when Go writes the field even if it is not set.
  bool AlwaysWritten() const;
};

// A default for a field below this struct that does not apply to the same field elsewhere.
struct PathDefault {
  std::vector<std::string_view> path;  // at least two names
  Json value;
};

class Message {
 public:
  std::string_view name() const { return name_; }
  std::string_view short_name() const;  // "DeploymentSpec" of "io.k8s.api.apps.v1.DeploymentSpec"
  bool atomic_struct() const { return atomic_struct_; }
  std::string_view description() const { return description_; }

  // Fields as they appear in JSON: embedded structs (kInline) are flattened into this list, in declaration
  // order.
  const std::vector<Field>& fields() const { return fields_; }
  // Fields as they appear in protobuf: embedded structs are one field each.
  const std::vector<Field>& wire_fields() const { return wire_fields_.empty() ? fields_ : wire_fields_; }

  // The wire fields that have a protobuf number, in the order of their numbers.
  const std::vector<const Field*>& wire_order() const { return wire_order_; }

  // nullptr when there is no such field. Names are case sensitive, as in Kubernetes' strict decoding.
  const Field* Find(std::string_view json_name) const;
  // Same as Find, for the key of a member of a document. Faster, because such a key usually is the same
  // shared string as the name in the schema.
  const Field* FindKey(const std::string& key) const;
  const Field* FindByNumber(int proto_number) const;  // among wire_fields
  // The fields that Go writes even if they are not set.
  const std::vector<const Field*>& always_written() const { return always_written_; }

  const std::vector<PathDefault>& path_defaults() const { return path_defaults_; }

  // True when this struct or one below it declares a default / a gate: lets walkers skip whole subtrees.
  bool has_defaults() const { return has_defaults_; }
  bool has_gates() const { return has_gates_; }

 private:
  friend class SchemaBuilder;
  std::string_view name_;
  std::string_view description_;
  bool atomic_struct_ = false;
  bool has_defaults_ = false;
  bool has_gates_ = false;
  std::vector<Field> fields_;
  std::vector<Field> wire_fields_;  // empty without embedded structs: it would equal fields_
  std::vector<PathDefault> path_defaults_;
  std::vector<std::uint16_t> by_name_;     // indexes into fields_, sorted by name
  std::vector<const std::string*> names_;  // of fields_, as documents share them (api/member_name.h)
  std::vector<const Field*> always_written_;
  std::vector<const Field*> wire_order_;  // into wire_fields()
};

class Schema {
 public:
  // The built-in schema.
  static const Schema& Get();
  // A schema of messages that are declared at run time. Their fields may name messages of the built-in
  // schema. `texts` owns the strings that the declarations point to; the schema keeps it alive. REQUIRES:
  // names are unique, and every named message exists.
  static std::shared_ptr<const Schema> Make(std::span<const MessageDef> messages,
                                            std::shared_ptr<const void> texts = nullptr);

  // nullptr when unknown. `name` is the full OpenAPI name.
  const Message* Find(std::string_view name) const;
  // REQUIRES: the message exists (programmer error otherwise).
  const Message& Must(std::string_view name) const;
  // All messages sorted by name.
  const std::vector<Message>& messages() const { return messages_; }

 private:
  friend class SchemaBuilder;
  std::vector<Message> messages_;
  std::shared_ptr<const void> texts_;  // of messages that were declared at run time
};

}  // namespace terrarium::api
