#include "api/codec/decode.h"

#include <cstdint>
#include <memory>
#include <set>
#include <utility>

#include "api/codec/go_words.h"
#include "api/codec/internal/go_syntax.h"
#include "api/codec/normalize.h"

namespace terrarium::api {
namespace {

// The schema of the value being read.
struct Context {
  enum class Kind {
    kAny,      // no schema: every value is accepted
    kOpaque,   // a raw object of the schema: accepted unchecked, even with repeated keys
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
    case FieldType::kMessage: return {Context::Kind::kStruct, field.message, &field};
    case FieldType::kRawObject:
    case FieldType::kFieldsV1:
    case FieldType::kAny: return {Context::Kind::kOpaque};
    default: return {Context::Kind::kElement, nullptr, &field};
  }
}

Context ValueOf(const Field& field) {
  switch (field.def.cardinality) {
    case Cardinality::kList: return {Context::Kind::kList, nullptr, &field};
    case Cardinality::kMap: return {Context::Kind::kMap, nullptr, &field};
    case Cardinality::kSingle: break;
  }
  return ElementOf(field);
}

// A path in a document and the hash of its text. Adding a step hashes that step only. This bounds the work
// when a document repeats one mistake many times, since a path can be as long as the document.
class HashedPath {
 public:
  struct Mark {
    std::size_t length = 0;
    std::uint64_t hash = 14695981039346656037u;
  };

  const std::string& text() const { return text_; }
  std::uint64_t hash() const { return hash_; }
  Mark Here() const { return {text_.size(), hash_}; }
  void BackTo(const Mark& mark) {
    text_.resize(mark.length);
    hash_ = mark.hash;
  }
  void AppendKey(std::string_view name) {
    if (!text_.empty()) Append(".");
    Append(name);
  }
  void AppendIndex(std::size_t index) {
    Append("[");
    Append(std::to_string(index));
    Append("]");
  }

 private:
  void Append(std::string_view text) {
    text_.append(text);
    for (const char c : text) hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 1099511628211u;  // FNV-1a
  }

  std::string text_;
  std::uint64_t hash_ = Mark{}.hash;
};

// Builds the document. It sorts the members of an object when the object ends, so that the cost does not
// depend on their order.
//
// Reporting repeated and unknown keys with their paths takes a path and a set of keys for every open object.
// Few documents have such keys, so the first pass only detects whether there are any. A second pass, given
// `strict_errors`, reports them.
class Builder : public nlohmann::json_sax<Json> {
 public:
  Builder(Json* root, Context root_context, std::vector<std::string>* strict_errors)
      : root_(root), next_(root_context), strict_errors_(strict_errors) {}

  bool too_deep() const { return too_deep_; }
  bool has_strict_errors() const { return has_strict_errors_; }

  bool null() override { return Put(nullptr); }
  bool boolean(bool value) override { return Put(value); }
  bool number_integer(std::int64_t value) override { return PutNumber(value, {}); }
  bool number_unsigned(std::uint64_t value) override { return PutNumber(value, {}); }
  bool number_float(double value, const std::string& literal) override { return PutNumber(value, literal); }
  bool string(std::string& value) override { return Put(std::move(value)); }
  bool binary(Json::binary_t&) override { return false; }

  bool start_object(std::size_t) override { return Open(Json::value_t::object); }
  bool start_array(std::size_t) override { return Open(Json::value_t::array); }
  bool end_object() override;
  bool end_array() override { return Close(); }
  bool key(std::string& name) override;
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  struct Frame {
    Json* value = nullptr;
    Context context;
    // For the report only.
    HashedPath::Mark path;  // up to and including this value
    std::size_t index = 0;
    std::unique_ptr<std::set<std::string>> keys;
  };

  template <typename T>
  bool Put(T&& value);
  template <typename T>
  bool PutNumber(T value, const std::string& literal);
  bool Open(Json::value_t type);
  bool Close();
  Json* Slot();
  // Each returns false when the report is full, which stops the parser.
  bool Unknown(const std::string& name);
  bool CheckRepeated(Frame& frame, const std::string& name);
  bool Add(const char* kind);
  void PathKey(const std::string& name);
  bool Reports() const { return strict_errors_ != nullptr; }

  Json* root_;
  Json* slot_ = nullptr;  // where the value after a key goes
  Context next_;          // of the next value
  std::vector<Frame> frames_;
  HashedPath path_;
  std::vector<std::string>* strict_errors_;
  std::set<std::pair<std::uint64_t, char>> reported_;  // the path and the first letter of what is wrong there
  bool has_strict_errors_ = false;
  bool too_deep_ = false;
};

// Returns the place for the next value and sets next_ to its context. Returns nullptr when the value is
// skipped.
Json* Builder::Slot() {
  if (frames_.empty()) return root_;
  Frame& frame = frames_.back();
  if (frame.value == nullptr) return nullptr;
  if (frame.value->is_object()) return slot_;
  next_ = frame.context.kind == Context::Kind::kList ? ElementOf(*frame.context.field) : frame.context;
  if (Reports()) {
    path_.BackTo(frame.path);
    path_.AppendIndex(frame.index++);
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
  // A quantity may be a JSON number. Its literal is kept, not its value: 1e3 is not 1k.
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
  frames_.push_back({slot, next_, path_.Here(), 0, nullptr});
  return true;
}

bool Builder::Close() {
  frames_.pop_back();
  if (Reports() && !frames_.empty()) path_.BackTo(frames_.back().path);
  return true;
}

bool Builder::end_object() {
  const Frame& frame = frames_.back();
  if (frame.value != nullptr) {
    const bool repeated = frame.value->get_ref<Json::object_t&>().SortMembers();
    if (repeated && frame.context.kind != Context::Kind::kOpaque) has_strict_errors_ = true;
  }
  return Close();
}

void Builder::PathKey(const std::string& name) {
  path_.BackTo(frames_.back().path);
  path_.AppendKey(name);
}

bool Builder::Add(const char* kind) {
  if (reported_.insert({path_.hash(), kind[0]}).second) AddStrictError(kind, path_.text(), strict_errors_);
  return strict_errors_->size() < kMaxStrictErrors;
}

bool Builder::Unknown(const std::string& name) {
  slot_ = nullptr;
  has_strict_errors_ = true;
  if (!Reports()) return true;
  PathKey(name);
  return Add("unknown");
}

bool Builder::CheckRepeated(Frame& frame, const std::string& name) {
  if (!Reports()) return true;
  PathKey(name);
  if (frame.context.kind == Context::Kind::kOpaque) return true;
  if (frame.keys == nullptr) frame.keys = std::make_unique<std::set<std::string>>();
  return frame.keys->insert(name).second || Add("duplicate");
}

bool Builder::key(std::string& name) {
  Frame& frame = frames_.back();
  if (frame.value == nullptr) return true;
  switch (frame.context.kind) {
    case Context::Kind::kStruct: {
      const Field* field = frame.context.message->Find(name);
      if (field == nullptr) return Unknown(name);
      next_ = ValueOf(*field);
      break;
    }
    case Context::Kind::kMap: next_ = ElementOf(*frame.context.field); break;
    default:  // a value that the schema did not expect here is kept for Normalize to complain about
      next_ = frame.context;
      break;
  }
  slot_ = &frame.value->get_ref<Json::object_t&>().AppendUnsorted(name);
  return CheckRepeated(frame, name);
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

// Reads `text` into `decoded`.
void Build(std::string_view text, Context context, const DecodeOptions& options, Decoded& decoded) {
  Builder builder(&decoded.object, context, nullptr);
  if (!Json::sax_parse(text, &builder)) {
    decoded.error = DecodeError{DecodeError::Kind::kSyntax,
                                builder.too_deep() ? "exceeded max depth" : GoSyntaxError(text)};
    decoded.object = nullptr;
    return;
  }
  if (!options.strict || !builder.has_strict_errors()) return;
  Json unused;
  Builder reporter(&unused, context, &decoded.strict_errors);
  Json::sax_parse(text, &reporter);  // ends early when the report is full
}

}  // namespace

Decoded DecodeJson(std::string_view text, const Message& message, const DecodeOptions& options) {
  Decoded decoded;
  Build(text, {Context::Kind::kStruct, &message, nullptr}, options, decoded);
  if (decoded.error) return decoded;
  if (auto error = Normalize(message, decoded.object, nullptr)) {
    decoded.error = DecodeError{DecodeError::Kind::kType, std::move(*error)};
    decoded.object = nullptr;
  }
  return decoded;
}

Decoded DecodeJson(std::string_view text, const DecodeOptions& options) {
  Decoded decoded;
  Build(text, {}, options, decoded);
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
