#include "api/schema/schema.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "api/member_name.h"
#include "api/schema/generated/tables.h"
#include "api/schema/own/declarations.h"

namespace terrarium::api {
namespace {

constexpr std::string_view kApiPrefix = "io.k8s.api.";
constexpr std::string_view kMetaPrefix = "io.k8s.apimachinery.pkg.apis.";
constexpr std::string_view kMetricsPrefix = "io.k8s.metrics.pkg.apis.";

std::string FullName(std::string_view own_name) {
  const std::string_view prefix = own_name.starts_with("meta.v1.")     ? kMetaPrefix
                                  : own_name.starts_with("metrics.v1") ? kMetricsPrefix
                                                                       : kApiPrefix;
  return std::string(prefix).append(own_name);
}

// A declaration about a message or field that does not exist is a bug in our tables, which no caller can
// handle.
[[noreturn]] void BadDeclaration(std::string_view message, std::string_view field) {
  std::fprintf(stderr, "schema: no such declaration target: %.*s %.*s\n", static_cast<int>(message.size()),
               message.data(), static_cast<int>(field.size()), field.data());
  std::abort();
}

std::vector<std::string_view> SplitPath(std::string_view path) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t dot = path.find('.');
    parts.push_back(path.substr(0, dot));
    if (dot == std::string_view::npos) return parts;
    path.remove_prefix(dot + 1);
  }
}

}  // namespace

// Builds a Schema in steps, each of which needs the previous one: collect, declare, resolve, flatten, index.
class SchemaBuilder {
 public:
  static Schema Build();
  static Schema BuildFrom(std::span<const MessageDef> messages);

 private:
  void Collect(std::vector<const MessageDef*> defs);
  static std::vector<const MessageDef*> BuiltInMessages();
  void AddOwnFields();
  void AddGates();
  void AddDefaults();
  void AddDescriptions(std::span<const own::Description> rows);
  void Resolve();
  void FlattenAll();
  void Flatten(const Message& from, std::string_view embedded, std::vector<Field>* out) const;
  void Index();
  void Propagate();

  Message& Own(std::string_view own_name);
  static Field& OwnField(Message& message, std::string_view field);

  Schema schema_;
  const Schema* base_ = nullptr;  // fields may name its messages too; nullptr: none
};

Schema SchemaBuilder::Build() {
  SchemaBuilder b;
  b.Collect(BuiltInMessages());
  b.AddOwnFields();
  b.AddGates();
  b.AddDefaults();
  for (auto rows : {own::AppsDescriptions(), own::BatchDescriptions(), own::CoreDescriptions(),
                    own::MetaDescriptions(), own::PodDescriptions(), own::ClusterDescriptions()}) {
    b.AddDescriptions(rows);
  }
  b.Resolve();
  b.FlattenAll();
  b.Index();
  b.Propagate();
  return std::move(b.schema_);
}

Schema SchemaBuilder::BuildFrom(std::span<const MessageDef> messages) {
  std::vector<const MessageDef*> defs;
  for (const MessageDef& def : messages) defs.push_back(&def);
  SchemaBuilder b;
  b.base_ = &Schema::Get();
  b.Collect(std::move(defs));
  b.Resolve();
  b.FlattenAll();
  b.Index();
  b.Propagate();
  return std::move(b.schema_);
}

std::vector<const MessageDef*> SchemaBuilder::BuiltInMessages() {
  std::vector<const MessageDef*> defs;
  for (const auto table : kGeneratedTables) {
    for (const MessageDef& def : table()) defs.push_back(&def);
  }
  for (const MessageDef& def : own::AddedMessages()) defs.push_back(&def);
  return defs;
}

void SchemaBuilder::Collect(std::vector<const MessageDef*> defs) {
  std::sort(defs.begin(), defs.end(), [](auto* a, auto* b) { return a->name < b->name; });

  schema_.messages_.reserve(defs.size());
  for (const MessageDef* def : defs) {
    Message& m = schema_.messages_.emplace_back();
    m.name_ = def->name;
    m.atomic_struct_ = def->atomic_struct;
    m.fields_.reserve(def->fields.size());
    for (const FieldDef& field : def->fields) {
      m.fields_.push_back(Field{.def = field});
      const bool type_meta = field.proto_number == 0 && (field.name == "kind" || field.name == "apiVersion");
      if (type_meta) m.fields_.back().embedded = "TypeMeta";
    }
  }
}

Message& SchemaBuilder::Own(std::string_view own_name) {
  const Message* found = schema_.Find(FullName(own_name));
  if (found == nullptr) BadDeclaration(own_name, "");
  return const_cast<Message&>(*found);  // an element of schema_, which is still mutable
}

Field& SchemaBuilder::OwnField(Message& message, std::string_view field) {
  for (Field& f : message.fields_) {
    if (f.def.name == field && !f.Is(kInline)) return f;
  }
  BadDeclaration(message.name_, field);
}

void SchemaBuilder::AddOwnFields() {
  for (const own::AddedField& row : own::AddedFields()) {
    Own(row.message).fields_.push_back(Field{.def = row.def});
  }
}

void SchemaBuilder::AddGates() {
  for (const own::Gate& row : own::Gates()) OwnField(Own(row.message), row.field).gate = row.gate;
}

void SchemaBuilder::AddDefaults() {
  for (const own::Default& row : own::Defaults()) {
    Message& message = Own(row.message);
    Json value = Json::parse(row.json, nullptr, /*allow_exceptions=*/false);
    if (value.is_discarded()) BadDeclaration(row.message, row.field);
    std::vector<std::string_view> path = SplitPath(row.field);
    if (path.size() == 1) {
      OwnField(message, row.field).default_value = std::move(value);
      continue;
    }
    Message* at = &message;
    for (std::size_t i = 0; i + 1 < path.size(); ++i) {
      at = const_cast<Message*>(schema_.Find(OwnField(*at, path[i]).def.message));
      if (at == nullptr) BadDeclaration(row.message, row.field);
    }
    OwnField(*at, path.back());
    message.path_defaults_.push_back({std::move(path), std::move(value)});
  }
}

void SchemaBuilder::AddDescriptions(std::span<const own::Description> rows) {
  for (const own::Description& row : rows) {
    Message& message = Own(row.message);
    (row.field.empty() ? message.description_ : OwnField(message, row.field).description) = row.text;
  }
}

void SchemaBuilder::Resolve() {
  for (Message& m : schema_.messages_) {
    for (Field& f : m.fields_) {
      if (f.def.type != FieldType::kMessage) continue;
      f.message = schema_.Find(f.def.message);
      if (f.message == nullptr && base_ != nullptr) f.message = base_->Find(f.def.message);
      if (f.message == nullptr) BadDeclaration(m.name_, f.def.name);
    }
  }
}

// Before this step, fields_ holds the declared rows of every message. A message with embedded structs keeps
// those rows as its wire fields and gets the flattened list for JSON.
void SchemaBuilder::FlattenAll() {
  std::vector<std::pair<Message*, std::vector<Field>>> flat;
  for (Message& m : schema_.messages_) {
    if (std::none_of(m.fields_.begin(), m.fields_.end(), [](const Field& f) { return f.Is(kInline); }))
      continue;
    flat.emplace_back(&m, std::vector<Field>{});
    Flatten(m, "", &flat.back().second);
  }
  for (auto& [message, fields] : flat) {
    message->wire_fields_ = std::move(message->fields_);
    message->fields_ = std::move(fields);
  }
}

void SchemaBuilder::Flatten(const Message& from, std::string_view embedded, std::vector<Field>* out) const {
  for (const Field& f : from.fields_) {
    if (f.Is(kInline)) {
      Flatten(*f.message, f.name(), out);
      continue;
    }
    out->push_back(f);
    if (!embedded.empty()) out->back().embedded = embedded;
  }
}

void SchemaBuilder::Index() {
  for (Message& m : schema_.messages_) {
    m.by_name_.resize(m.fields_.size());
    for (std::size_t i = 0; i < m.by_name_.size(); ++i) m.by_name_[i] = static_cast<std::uint16_t>(i);
    std::sort(m.by_name_.begin(), m.by_name_.end(),
              [&](auto a, auto b) { return m.fields_[a].def.name < m.fields_[b].def.name; });
    for (const Field& f : m.fields_) {
      m.names_.push_back(MemberName(f.name()).shared());
      if (f.AlwaysWritten()) m.always_written_.push_back(&f);
    }
    for (const Field& f : m.wire_fields()) {
      if (f.def.proto_number != 0) m.wire_order_.push_back(&f);
    }
    std::sort(m.wire_order_.begin(), m.wire_order_.end(),
              [](auto* a, auto* b) { return a->def.proto_number < b->def.proto_number; });
  }
}

// Structs may be declared in any order, so this propagates the flags upwards until nothing changes.
void SchemaBuilder::Propagate() {
  for (bool changed = true; changed;) {
    changed = false;
    for (Message& m : schema_.messages_) {
      bool defaults = m.has_defaults_ || !m.path_defaults_.empty();
      bool gates = m.has_gates_;
      for (const Field& f : m.fields_) {
        defaults =
            defaults || !f.default_value.is_null() || (f.message != nullptr && f.message->has_defaults_);
        gates = gates || !f.gate.empty() || (f.message != nullptr && f.message->has_gates_);
      }
      changed = changed || defaults != m.has_defaults_ || gates != m.has_gates_;
      m.has_defaults_ = defaults;
      m.has_gates_ = gates;
    }
  }
}

bool Field::AlwaysWritten() const {
  if (Is(kOmitZero)) return false;
  if (!Is(kOmitEmpty)) return true;
  if (Is(kPointer) || def.cardinality != Cardinality::kSingle) return false;
  switch (def.type) {  // omitempty does nothing for Go structs
    case FieldType::kMessage:
    case FieldType::kQuantity:
    case FieldType::kIntOrString:
    case FieldType::kTime:
    case FieldType::kMicroTime:
    case FieldType::kDuration:
    case FieldType::kRawObject: return true;
    default: return false;
  }
}

std::string_view Message::short_name() const { return name_.substr(name_.rfind('.') + 1); }

const Field* Message::Find(std::string_view json_name) const {
  const auto it = std::lower_bound(by_name_.begin(), by_name_.end(), json_name,
                                   [&](auto i, std::string_view name) { return fields_[i].def.name < name; });
  if (it == by_name_.end() || fields_[*it].def.name != json_name) return nullptr;
  return &fields_[*it];
}

const Field* Message::FindKey(const std::string& key) const {
  const auto it = std::find(names_.begin(), names_.end(), &key);
  return it != names_.end() ? &fields_[static_cast<std::size_t>(it - names_.begin())] : Find(key);
}

const Field* Message::FindByNumber(int proto_number) const {
  const auto it = std::lower_bound(wire_order_.begin(), wire_order_.end(), proto_number,
                                   [](auto* field, int number) { return field->def.proto_number < number; });
  return it != wire_order_.end() && (*it)->def.proto_number == proto_number ? *it : nullptr;
}

const Schema& Schema::Get() {
  static const Schema schema = SchemaBuilder::Build();
  return schema;
}

std::shared_ptr<const Schema> Schema::Make(std::span<const MessageDef> messages,
                                           std::shared_ptr<const void> texts) {
  auto schema = std::make_shared<Schema>(SchemaBuilder::BuildFrom(messages));
  schema->texts_ = std::move(texts);
  return schema;
}

const Message* Schema::Find(std::string_view name) const {
  const auto it = std::lower_bound(messages_.begin(), messages_.end(), name,
                                   [](const Message& m, std::string_view n) { return m.name() < n; });
  return it != messages_.end() && it->name() == name ? &*it : nullptr;
}

const Message& Schema::Must(std::string_view name) const {
  const Message* found = Find(name);
  if (found == nullptr) BadDeclaration(name, "");
  return *found;
}

}  // namespace terrarium::api
