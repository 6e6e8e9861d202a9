#include <algorithm>

#include "api/codec/internal/yaml_scalar.h"
#include "api/codec/yaml.h"

namespace terrarium::api {
namespace {

// Whether a plain scalar with this text would be read back as this text.
bool PlainIsSafe(std::string_view text) {
  constexpr std::string_view kIndicators = "-?:,[]{}#&*!|>'\"%@`";
  const char first = text[0];
  if (kIndicators.find(first) != std::string_view::npos) {
    const bool word = (first == '-' || first == '?' || first == ':') && text.size() > 1 && text[1] != ' ';
    if (!word) return false;
  }
  if (first == ' ' || text.back() == ' ' || text.back() == ':') return false;
  if (text.starts_with("---") || text.starts_with("...")) return false;
  return text.find(": ") == std::string_view::npos && text.find(" #") == std::string_view::npos;
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// A date, or a date and time, which other readers of YAML turn into something that is no text any more.
bool LooksLikeTimestamp(std::string_view text) {
  if (text.size() < 8 || !std::all_of(text.begin(), text.begin() + 4, IsDigit) || text[4] != '-') return false;
  const std::size_t end = text.find_first_not_of("0123456789", 5);
  if (end == std::string_view::npos || end == 5 || text[end] != '-') return false;
  const std::size_t rest = text.find_first_not_of("0123456789", end + 1);
  if (rest == std::string_view::npos) return end + 1 < text.size();
  return rest != end + 1 && (text[rest] == 'T' || text[rest] == 't' || text[rest] == ' ');
}

bool NeedsEscapes(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\n') || byte == 0x7f;
  });
}

class Writer {
 public:
  void Value(const Json& value, std::size_t indent, bool after_key);
  std::string Take() { return std::move(out_); }

 private:
  void Map(const Json& map, std::size_t indent, bool inline_first);
  void Key(const std::string& key);
  void List(const Json& list, std::size_t indent, bool inline_first);
  void String(std::string_view text, std::size_t indent);
  void Literal(std::string_view text, std::size_t indent);
  void Indent(std::size_t n) { out_.append(n, ' '); }

  std::string out_;
};

// `after_key`: the cursor stands behind "key:"; otherwise at the place where the value begins.
void Writer::Value(const Json& value, std::size_t indent, bool after_key) {
  const bool block = (value.is_object() || value.is_array()) && !value.empty();
  if (after_key) out_.append(block ? "\n" : " ");
  if (value.is_object() && block) {
    Map(value, indent, !after_key);
  } else if (value.is_array() && block) {
    // A list below a key is not indented any further than the key.
    List(value, after_key ? indent - 2 : indent, !after_key);
  } else if (value.is_string()) {
    String(value.get_ref<const std::string&>(), indent);
  } else {
    out_.append(value.dump()).push_back('\n');
  }
}

void Writer::Map(const Json& map, std::size_t indent, bool inline_first) {
  for (auto it = map.begin(); it != map.end(); ++it) {
    if (!inline_first) Indent(indent);
    inline_first = false;
    Key(it.key());
    Value(it.value(), indent + 2, true);
  }
}

void Writer::Key(const std::string& key) {
  if (key.find('\n') != std::string::npos) {
    out_.append(Json(key).dump()).push_back(':');
    return;
  }
  String(key, 0);
  out_.back() = ':';  // in place of the line break behind a scalar
}

void Writer::List(const Json& list, std::size_t indent, bool inline_first) {
  for (const Json& element : list) {
    if (!inline_first) Indent(indent);
    inline_first = false;
    out_.append("- ");
    Value(element, indent + 2, false);
  }
}

void Writer::String(std::string_view text, std::size_t indent) {
  const std::optional<Json> plain = ResolveYamlScalar(text);
  if (!plain || !plain->is_string() || NeedsEscapes(text) || LooksLikeTimestamp(text) || text == "<<") {
    out_.append(Json(text).dump()).push_back('\n');  // JSON's strings are YAML's double-quoted ones
  } else if (text.find('\n') != std::string_view::npos) {
    Literal(text, indent);
  } else if (PlainIsSafe(text)) {
    out_.append(text).push_back('\n');
  } else {
    out_.push_back('\'');
    for (const char c : text) out_.append(c == '\'' ? 2 : 1, c);
    out_.append("'\n");
  }
}

void Writer::Literal(std::string_view text, std::size_t indent) {
  // A block that starts with a space or is only line breaks would need more marks than it is worth.
  if (text[0] == ' ' || text[0] == '\n') {
    out_.append(Json(text).dump()).push_back('\n');
    return;
  }
  const std::size_t breaks = text.size() - (text.find_last_not_of('\n') + 1);
  out_.append(breaks == 0 ? "|-\n" : breaks == 1 ? "|\n" : "|+\n");
  if (breaks > 0) text.remove_suffix(1);
  for (;;) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    if (!line.empty()) Indent(std::max<std::size_t>(indent, 2));
    out_.append(line).push_back('\n');
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

std::string WriteYaml(const Json& value) {
  Writer writer;
  writer.Value(value, 0, false);
  return writer.Take();
}

}  // namespace terrarium::api
