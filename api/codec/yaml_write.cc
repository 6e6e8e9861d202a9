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

// Readers of YAML look for the colon within 1024 characters. A longer key is marked by "? ".
constexpr std::size_t kPlainKeyBytesMax = 1000;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// A date, or a date and time, which other YAML readers convert to a timestamp.
bool LooksLikeTimestamp(std::string_view text) {
  if (text.size() < 8 || !std::all_of(text.begin(), text.begin() + 4, IsDigit) || text[4] != '-')
    return false;
  const std::size_t end = text.find_first_not_of("0123456789", 5);
  if (end == std::string_view::npos || end == 5 || text[end] != '-') return false;
  const std::size_t rest = text.find_first_not_of("0123456789", end + 1);
  if (rest == std::string_view::npos) return end + 1 < text.size();
  return rest != end + 1 && (text[rest] == 'T' || text[rest] == 't' || text[rest] == ' ');
}

// Length of a character at `at` that may not stand in YAML as it is, or that would be taken for a line break;
// else 0.
std::size_t UnprintableLength(std::string_view text, std::size_t at) {
  const auto byte = static_cast<unsigned char>(text[at]);
  const std::string_view rest = text.substr(at);
  if (byte < 0x20 || byte == 0x7f) return 1;
  if (byte == 0xc2 && rest.size() > 1 && static_cast<unsigned char>(rest[1]) < 0xa0)
    return 2;  // U+0080 to U+009F
  for (const std::string_view special :
       {"\xe2\x80\xa8", "\xe2\x80\xa9", "\xef\xbb\xbf", "\xef\xbf\xbe", "\xef\xbf\xbf"}) {
    if (rest.starts_with(special)) return 3;  // U+2028, U+2029, U+FEFF, U+FFFE, U+FFFF
  }
  return 0;
}

bool NeedsEscapes(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\n' && UnprintableLength(text, i) > 0) return true;
  }
  return false;
}

std::string DoubleQuoted(std::string_view text) {
  std::string out = "\"";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t n = UnprintableLength(text, i);
    if (n == 0) {
      if (text[i] == '"' || text[i] == '\\') out.push_back('\\');
      out.push_back(text[i]);
      continue;
    }
    // Dumping with ASCII only gives the \u form, quotes around it.
    const std::string escaped = Json(text.substr(i, n)).dump(-1, ' ', /*ensure_ascii=*/true);
    out.append(escaped, 1, escaped.size() - 2);
    i += n - 1;
  }
  return out.append("\"");
}

class Writer {
 public:
  void Value(const Json& value, std::size_t indent, bool after_key);
  std::string Take() { return std::move(out_); }

 private:
  void Map(const Json& map, std::size_t indent, bool inline_first);
  void Key(const std::string& key, std::size_t indent);
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
    Key(it.key(), indent);
    Value(it.value(), indent + 2, true);
  }
}

void Writer::Key(const std::string& key, std::size_t indent) {
  const std::size_t begin = out_.size();
  if (key.find('\n') != std::string::npos)
    out_.append(DoubleQuoted(key)).push_back('\n');
  else
    String(key, 0);
  if (out_.size() - begin <= kPlainKeyBytesMax) {
    out_.back() = ':';  // in place of the line break behind a scalar
    return;
  }
  out_.insert(begin, "? ");
  Indent(indent);
  out_.push_back(':');
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
  const bool is_text = ResolveYamlScalar(text).type == YamlType::kString;
  if (!is_text || NeedsEscapes(text) || LooksLikeTimestamp(text) || text == "<<") {
    out_.append(DoubleQuoted(text)).push_back('\n');
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
    out_.append(DoubleQuoted(text)).push_back('\n');
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
