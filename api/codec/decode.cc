#include "api/codec/decode.h"

#include <algorithm>

#include "api/codec/internal/go_syntax.h"
#include "api/codec/internal/go_words.h"
#include "api/codec/normalize.h"

namespace terrarium::api {
namespace {

// What the schema says about the value being read.
struct Context {
  enum class Kind {
    kAny,      // no schema: everything is taken
    kOpaque,   // a raw object of the schema: taken as it is, not even repeated keys are looked at
    kStruct,   // an object of `message`
    kMap,      // an object whose values are elements of `field`
    kList,     // an array of elements of `field`
    kElement,  // one value of `field`'s type
    kSkip,     // below an unknown field: not built
  };
  Kind kind = Kind::kAny;
  const Message* message = nullptr;
  const Field* field = nullptr;
};

Context ElementOf(const Field& field) {
  switch (field.def.type) {
    case FieldType::kMessage:
      return {Context::Kind::kStruct, field.message, &field};
    case FieldType::kRawObject:
    case FieldType::kFieldsV1:
    case FieldType::kAny:
      return {Context::Kind::kOpaque};
    default:
      return {Context::Kind::kElement, nullptr, &field};
  }
}

Context ValueOf(const Field& field) {
  switch (field.def.cardinality) {
    case Cardinality::kList:
      return {Context::Kind::kList, nullptr, &field};
    case Cardinality::kMap:
      return {Context::Kind::kMap, nullptr, &field};
    case Cardinality::kSingle:
      break;
  }
  return ElementOf(field);
}

// Builds the document and notes repeated and unknown keys where they stand, which a walk over the finished
// (sorted) document could not.
class Builder : public nlohmann::json_sax<Json> {
 public:
  Builder(Json* root, Context root_context, std::vector<std::string>* strict_errors)
      : root_(root), next_(root_context), strict_errors_(strict_errors) {}

  bool too_deep() const { return too_deep_; }

  bool null() override { return Put(nullptr); }
  bool boolean(bool value) override { return Put(value); }
  bool number_integer(std::int64_t value) override { return PutNumber(value, {}); }
  bool number_unsigned(std::uint64_t value) override { return PutNumber(value, {}); }
  bool number_float(double value, const std::string& literal) override { return PutNumber(value, literal); }
  bool string(std::string& value) override { return Put(std::move(value)); }
  bool binary(Json::binary_t&) override { return false; }

  bool start_object(std::size_t) override { return Open(Json::value_t::object); }
  bool start_array(std::size_t) override { return Open(Json::value_t::array); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }
  bool key(std::string& name) override;
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  struct Frame {
    Json* value = nullptr;
    Context context;
    std::size_t path_length = 0;  // of the path up to and including this value
    std::size_t index = 0;
  };

  template <typename T>
  bool Put(T&& value);
  template <typename T>
  bool PutNumber(T value, const std::string& literal);
  bool Open(Json::value_t type);
  bool Close();
  Json* Slot();
  void PathKey(const std::string& name);
  bool WantsPath() const { return strict_errors_ != nullptr; }

  Json* root_;
  Json* slot_ = nullptr;  // where the value after a key goes
  Context next_;          // of the next value
  std::vector<Frame> frames_;
  std::string path_;
  std::vector<std::string>* strict_errors_;
  bool too_deep_ = false;
};

// Makes room for the next value and sets next_ to its context; nullptr when it is not to be built.
Json* Builder::Slot() {
  if (frames_.empty()) return root_;
  Frame& frame = frames_.back();
  if (frame.value == nullptr) return nullptr;
  if (frame.value->is_object()) return slot_;
  next_ = frame.context.kind == Context::Kind::kList ? ElementOf(*frame.context.field) : frame.context;
  if (WantsPath()) {
    path_.resize(frame.path_length);
    path_.append("[").append(std::to_string(frame.index++)).append("]");
  }
  return &frame.value->emplace_back();
}

template <typename T>
bool Builder::Put(T&& value) {
  if (Json* slot = Slot()) *slot = std::forward<T>(value);
  return true;
}

template <typename T>
bool Builder::PutNumber(T value, const std::string& literal) {
  Json* slot = Slot();
  if (slot == nullptr) return true;
  // A quantity may be written as a number; its digits count, not its value (1e3 is not 1k).
  const bool quantity =
      next_.kind == Context::Kind::kElement && next_.field->def.type == FieldType::kQuantity;
  if (quantity) {
    *slot = literal.empty() ? Json(value).dump() : literal;
  } else {
    *slot = value;
  }
  return true;
}

bool Builder::Open(Json::value_t type) {
  if (frames_.size() >= kMaxJsonDepth) {
    too_deep_ = true;
    return false;
  }
  Json* slot = Slot();
  if (slot != nullptr) *slot = type;
  frames_.push_back({slot, next_, path_.size(), 0});
  return true;
}

bool Builder::Close() {
  frames_.pop_back();
  if (!frames_.empty()) path_.resize(frames_.back().path_length);
  return true;
}

void Builder::PathKey(const std::string& name) {
  if (!WantsPath()) return;
  path_.resize(frames_.back().path_length);
  path_.append(path_.empty() ? "" : ".").append(name);
}

bool Builder::key(std::string& name) {
  Frame& frame = frames_.back();
  if (frame.value == nullptr) return true;
  PathKey(name);
  switch (frame.context.kind) {
    case Context::Kind::kStruct: {
      const Field* field = frame.context.message->Find(name);
      if (field == nullptr) {
        AddStrictError("unknown", path_, strict_errors_);
        slot_ = nullptr;
        return true;
      }
      next_ = ValueOf(*field);
      break;
    }
    case Context::Kind::kMap:
      next_ = ElementOf(*frame.context.field);
      break;
    default:  // a value that the schema did not expect here is kept for Normalize to complain about
      next_ = frame.context;
      break;
  }
  auto& object = frame.value->get_ref<Json::object_t&>();
  const auto [it, inserted] = object.try_emplace(std::move(name));
  if (!inserted && frame.context.kind != Context::Kind::kOpaque)
    AddStrictError("duplicate", path_, strict_errors_);
  slot_ = &it->second;
  return true;
}

// Reads only the two names at the top.
class Peeker : public nlohmann::json_sax<Json> {
 public:
  explicit Peeker(TypeMeta* out) : out_(out) {}

  bool null() override { return Other("null"); }
  bool boolean(bool) override { return Other("bool"); }
  bool number_integer(std::int64_t) override { return Other("number"); }
  bool number_unsigned(std::uint64_t) override { return Other("number"); }
  bool number_float(double, const std::string&) override { return Other("number"); }
  bool string(std::string& value) override {
    if (depth_ != 1 || target_ == nullptr) return Other("string");
    *target_ = std::move(value);
    target_ = nullptr;
    return true;
  }
  bool binary(Json::binary_t&) override { return false; }
  bool start_object(std::size_t) override { return depth_ == 0 ? Enter() : Other("object") && Enter(); }
  bool start_array(std::size_t) override { return Other("array") && Enter(); }
  bool end_object() override { return --depth_, true; }
  bool end_array() override { return --depth_, true; }
  bool key(std::string& name) override {
    target_ = nullptr;
    if (depth_ == 1 && name == "kind") target_ = &out_->kind;
    if (depth_ == 1 && name == "apiVersion") target_ = &out_->api_version;
    if (target_ != nullptr) key_ = name;
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

  bool too_deep() const { return depth_ > kMaxJsonDepth; }
  const std::optional<std::string>& mismatch() const { return mismatch_; }

 private:
  bool Enter() { return ++depth_ <= kMaxJsonDepth; }
  bool Other(const char* kind) {
    constexpr const char* kType =
        "struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string "
        "\"json:\\\"kind,omitempty\\\"\" }";
    const bool is_null = kind == std::string_view("null");
    if (depth_ == 0 && !is_null)
      mismatch_ = std::string("json: cannot unmarshal ") + kind + " into Go value of type " + kType;
    if (depth_ == 1 && target_ != nullptr && !is_null && !mismatch_) {
      mismatch_ = std::string("json: cannot unmarshal ") + kind + " into Go struct field ." + key_ +
                  " of type string";
    }
    target_ = nullptr;
    return true;
  }

  TypeMeta* out_;
  std::string* target_ = nullptr;
  std::string key_;
  std::size_t depth_ = 0;
  std::optional<std::string> mismatch_;
};

std::optional<DecodeError> Build(std::string_view text, Context context,
                                 std::vector<std::string>* strict_errors, Json* out) {
  Builder builder(out, context, strict_errors);
  if (Json::sax_parse(text, &builder)) return std::nullopt;
  return DecodeError{DecodeError::Kind::kSyntax,
                     builder.too_deep() ? "exceeded max depth" : GoSyntaxError(text)};
}

}  // namespace

Decoded DecodeJson(std::string_view text, const Message& message, const DecodeOptions& options) {
  Decoded decoded;
  decoded.error = Build(text, {Context::Kind::kStruct, &message, nullptr},
                        options.strict ? &decoded.strict_errors : nullptr, &decoded.object);
  if (!decoded.error) {
    if (auto error = Normalize(message, decoded.object, nullptr)) {
      decoded.error = DecodeError{DecodeError::Kind::kType, std::move(*error)};
    }
  }
  if (decoded.error) decoded.object = nullptr;
  return decoded;
}

Decoded DecodeJson(std::string_view text, const DecodeOptions& options) {
  Decoded decoded;
  decoded.error = Build(text, {}, options.strict ? &decoded.strict_errors : nullptr, &decoded.object);
  if (decoded.error) decoded.object = nullptr;
  return decoded;
}

std::optional<DecodeError> PeekTypeMeta(std::string_view text, TypeMeta* out) {
  Peeker peeker(out);
  if (!Json::sax_parse(text, &peeker)) {
    return DecodeError{DecodeError::Kind::kSyntax,
                       peeker.too_deep() ? "exceeded max depth" : GoSyntaxError(text)};
  }
  if (peeker.mismatch()) return DecodeError{DecodeError::Kind::kType, *peeker.mismatch()};
  return std::nullopt;
}

}  // namespace terrarium::api
