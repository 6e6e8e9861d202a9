#include <algorithm>
#include <deque>
#include <istream>
#include <map>
#include <streambuf>
#include <utility>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include "api/codec/internal/go_words.h"
#include "api/codec/internal/utf8.h"
#include "api/codec/internal/yaml_scalar.h"
#include "api/codec/yaml.h"

namespace terrarium::api {
namespace {

// Thrown and caught in this file only: yaml-cpp calls us back from within its parser and has no other way
// out.
struct YamlFailure {
  YamlPlace place;  // line 0: of the whole
  std::string message;
};

[[noreturn]] void Fail(YamlPlace place, const std::string& message) { throw YamlFailure{place, message}; }

// A node as it stands in the text, aliases not yet followed.
struct Node {
  enum class Kind { kScalar, kList, kMap, kAlias };
  Kind kind = Kind::kScalar;
  YamlPlace place;
  std::string text, tag;
  std::vector<Node*> children;  // of a map: key, value, key, value
  Node* target = nullptr;       // of an alias
  bool active = false;          // being converted right now
};

class TreeBuilder : public YAML::EventHandler {
 public:
  Node* root() { return root_; }
  virtual void OnFirst() {}

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Add(Node::Kind::kScalar, mark, "?", anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Add(Node::Kind::kAlias, mark, "", 0)->target = anchors_[anchor];
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    Add(Node::Kind::kScalar, mark, tag, anchor)->text = value;
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open_.push_back(Add(Node::Kind::kList, mark, tag, anchor));
  }
  void OnSequenceEnd() override { open_.pop_back(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open_.push_back(Add(Node::Kind::kMap, mark, tag, anchor));
  }
  void OnMapEnd() override { open_.pop_back(); }

 private:
  Node* Add(Node::Kind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    Node& node = nodes_.emplace_back();
    node.kind = kind;
    node.place = {mark.line + 1, mark.column + 1};
    node.tag = tag;
    if (anchor != 0) anchors_[anchor] = &node;
    if (open_.empty()) {
      root_ = &node;
      OnFirst();
    } else {
      open_.back()->children.push_back(&node);
    }
    return &node;
  }

  std::deque<Node> nodes_;  // does not move what it holds
  std::vector<Node*> open_;
  std::map<YAML::anchor_t, Node*> anchors_;
  Node* root_ = nullptr;
};

// Follows aliases and merge keys and gives scalars their types.
class Converter {
 public:
  // `places`, where somebody wants it, gets to know where everything stands.
  explicit Converter(YamlPlaces* places = nullptr) : places_(places) {}
  Json Convert(Node& node);
  std::vector<std::string> TakeStrictErrors();

 private:
  Json Scalar(const Node& node);
  std::optional<std::string> KeyOf(Node& node);
  Json Map(Node& node);
  void Merge(Node& node, Json& into);
  void MergeOne(Node& node, Json& into);
  void Count();
  // While it lives, what is converted stands below `key` of where it stood before.
  class Below {
   public:
    Below(Converter& converter, std::string_view key) : converter_(converter), above_(converter.path_.size()) {
      if (converter.places_ != nullptr) converter.path_ = YamlPathBelow(converter.path_, key);
    }
    ~Below() { converter_.path_.resize(above_); }

   private:
    Converter& converter_;
    std::size_t above_;
  };

  // A few nodes that refer to each other can stand for an enormous document. The limits are go-yaml's.
  std::size_t decoded_ = 0, by_alias_ = 0, alias_depth_ = 0;
  std::vector<std::string> repeated_;
  YamlPlaces* places_;
  std::string path_;  // kept where places are wanted
};

void Converter::Count() {
  ++decoded_;
  if (alias_depth_ > 0) ++by_alias_;
  if (by_alias_ <= 100 || decoded_ <= 1000) return;
  const double share = std::clamp((static_cast<double>(decoded_) - 400000) / 3600000, 0.0, 1.0);
  if (static_cast<double>(by_alias_) / static_cast<double>(decoded_) > 0.99 - 0.89 * share) {
    Fail({}, "document contains excessive aliasing");
  }
}

Json Converter::Convert(Node& node) {
  Count();
  if (places_ != nullptr && node.kind != Node::Kind::kAlias) (*places_)[path_] = node.place;
  switch (node.kind) {
    case Node::Kind::kScalar:
      return Scalar(node);
    case Node::Kind::kMap:
      return Map(node);
    case Node::Kind::kAlias: {
      if (node.target == nullptr || node.target->active) Fail({}, "anchor value contains itself");
      ++alias_depth_;
      Json value = Convert(*node.target);
      --alias_depth_;
      return value;
    }
    case Node::Kind::kList:
      break;
  }
  Json list = Json::array();
  node.active = true;
  for (Node* child : node.children) {
    Below below(*this, std::to_string(list.size()));
    list.push_back(Convert(*child));
  }
  node.active = false;
  return list;
}

Json Converter::Scalar(const Node& node) {
  // yaml-cpp marks plain scalars with "?" and quoted ones with "!".
  if (node.tag == "!" || node.tag == "tag:yaml.org,2002:str") return ValidUtf8(node.text);
  if (node.tag != "?" && !node.tag.empty() && !node.tag.starts_with("tag:yaml.org,2002:"))
    return ValidUtf8(node.text);
  std::optional<Json> value = ResolveYamlScalar(node.text);
  if (!value) Fail(node.place, "json: unsupported value: " + node.text);
  return value->is_string() ? Json(ValidUtf8(node.text)) : *value;
}

// A key has no path of its own.
std::optional<std::string> Converter::KeyOf(Node& node) {
  YamlPlaces* places = std::exchange(places_, nullptr);
  std::optional<std::string> key = YamlKey(Convert(node));
  places_ = places;
  return key;
}

Json Converter::Map(Node& node) {
  Json map = Json::object();
  std::map<std::string, bool> own;  // keys that stand here, not those merged in
  node.active = true;
  for (std::size_t i = 0; i + 1 < node.children.size(); i += 2) {
    Node& key_node = *node.children[i];
    Node& value_node = *node.children[i + 1];
    if (key_node.kind == Node::Kind::kScalar && key_node.text == "<<" && key_node.tag != "!") {
      Merge(value_node, map);
      if (places_ != nullptr) (*places_)[path_] = node.place;
      continue;
    }
    const std::optional<std::string> key = KeyOf(key_node);
    if (!key) Fail(key_node.place, "invalid map key");
    Below below(*this, *key);
    if (places_ != nullptr) (*places_)[path_ + "#"] = key_node.place;
    Json value = Convert(value_node);
    if (!own.emplace(*key, true).second) {
      repeated_.push_back("line " + std::to_string(value_node.place.line) + ": key " + GoQuote(*key) +
                          " already set in map");
    }
    map[*key] = std::move(value);
  }
  node.active = false;
  return map;
}

// Keys that are written in the map itself win over merged ones only when they come later, as in go-yaml v2.
void Converter::Merge(Node& node, Json& into) {
  if (node.kind != Node::Kind::kList) return MergeOne(node, into);
  for (auto it = node.children.rbegin(); it != node.children.rend(); ++it) MergeOne(**it, into);
}

void Converter::MergeOne(Node& node, Json& into) {
  const Node& target = node.kind == Node::Kind::kAlias && node.target != nullptr ? *node.target : node;
  if (target.kind != Node::Kind::kMap)
    Fail(node.place, "map merge requires map or sequence of maps as the value");
  into.update(Convert(node));
}

std::vector<std::string> Converter::TakeStrictErrors() {
  if (repeated_.empty()) return {};
  std::string text = "yaml: unmarshal errors:";
  for (const std::string& line : repeated_) text += "\n  " + line;
  return {std::move(text)};
}

// The words of libyaml for the mistakes that people make most; yaml-cpp's own for the rest.
std::string LibyamlWords(const std::string& message) {
  constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"bad file", "exceeded max depth"},
      {"end of map flow not found", "did not find expected ',' or '}'"},
      {"end of map not found", "did not find expected key"},
      {"end of sequence flow not found", "did not find expected node content"},
      {"end of sequence not found", "did not find expected '-' indicator"},
      {"illegal block entry", "block sequence entries are not allowed in this context"},
      {"illegal flow end", "did not find expected node content"},
      {"illegal map key", "mapping keys are not allowed in this context"},
      {"illegal map value", "mapping values are not allowed in this context"},
      {"illegal EOF in scalar", "found unexpected end of stream"},
      {"illegal document indicator in scalar", "found unexpected document indicator"},
      {"illegal tab when looking for indentation", "found character that cannot start any token"},
      {"unknown token", "found character that cannot start any token"},
      {"the referenced anchor is not defined", "unknown anchor referenced"},
  };
  for (const auto& [theirs, words] : kWords) {
    if (message == theirs) return std::string(words);
  }
  return message;
}

// Lets yaml-cpp read from the text where it is.
class ViewBuffer : public std::streambuf {
 public:
  explicit ViewBuffer(std::string_view text) {
    char* begin = const_cast<char*>(text.data());  // streambuf has no read-only form; nothing writes
    setg(begin, begin, begin + text.size());
  }
};

// Stops at the first node of a document, to learn where it begins.
class StartFinder : public TreeBuilder {
 public:
  struct Found {};

 private:
  void OnFirst() override { throw Found{}; }
};

// The line where the next document begins, or 0 when there is none that can be read.
int NextStart(YAML::Parser& parser) {
  StartFinder finder;
  try {
    parser.HandleNextDocument(finder);
  } catch (const StartFinder::Found&) {
    return finder.root()->place.line;
  } catch (const YAML::Exception&) {
    // Its own mistakes are of no concern to a reader of the document before it.
  }
  return 0;
}

// yaml-cpp takes whatever follows a finished document for the next one. YAML wants a line of dashes or dots
// in between.
bool Separated(std::string_view text, int from_line, int to_line) {
  int line = 1;
  for (std::size_t pos = 0; pos < text.size(); ++line) {
    if (line > from_line && line <= to_line) {
      const std::string_view rest = text.substr(pos);
      if (rest.starts_with("---") || rest.starts_with("...")) return true;
    }
    const std::size_t end = text.find('\n', pos);
    if (end == std::string_view::npos) break;
    pos = end + 1;
  }
  return false;
}

void CheckSeparated(std::string_view text, int from_line, int to_line) {
  if (!Separated(text, from_line, to_line)) Fail({to_line, 1}, "did not find expected <document start>");
}

// How much of a text to read.
struct Wanted {
  std::size_t documents = static_cast<std::size_t>(-1);  // at most
  bool empty_ones = false;
  bool places = false;
};

// Throws what is wrong, our own way or yaml-cpp's.
std::vector<PlacedYaml> ReadOrThrow(std::string_view text, const Wanted& wanted) {
  std::vector<PlacedYaml> documents;
  ViewBuffer buffer(text);
  std::istream stream(&buffer);
  YAML::Parser parser(stream);
  int last_start = 0;
  while (documents.size() < wanted.documents) {
    TreeBuilder builder;
    if (!parser.HandleNextDocument(builder)) break;
    if (builder.root() == nullptr) continue;
    const int line = builder.root()->place.line;
    if (last_start > 0) CheckSeparated(text, last_start, line);
    PlacedYaml read;
    Converter converter(wanted.places ? &read.places : nullptr);
    Json value = converter.Convert(*builder.root());
    // An empty document is found only where the next one begins.
    if (!value.is_null()) last_start = line;
    if (value.is_null() && !wanted.empty_ones) continue;
    read.document = {std::move(value), line, converter.TakeStrictErrors()};
    documents.push_back(std::move(read));
  }
  const int next = documents.size() == wanted.documents ? NextStart(parser) : 0;
  if (next > 0) CheckSeparated(text, last_start, next);
  return documents;
}

std::optional<std::vector<PlacedYaml>> Read(std::string_view text, const Wanted& wanted, YamlMistake* mistake) {
  try {
    return ReadOrThrow(text, wanted);
  } catch (const YamlFailure& failure) {
    *mistake = {failure.place, failure.message};
  } catch (const YAML::Exception& failure) {
    *mistake = {{failure.mark.line + 1, failure.mark.column + 1}, LibyamlWords(failure.msg)};
  }
  return std::nullopt;
}

// As the library of Kubernetes words it.
std::string GoWords(const YamlMistake& mistake) {
  const int line = mistake.place.line;
  return "yaml: " + (line > 0 ? "line " + std::to_string(line) + ": " : std::string()) + mistake.message;
}

}  // namespace

std::optional<YamlDocument> ParseYaml(std::string_view text, std::string* error) {
  YamlMistake mistake;
  auto documents = Read(text, {.documents = 1, .empty_ones = true}, &mistake);
  if (!documents) *error = GoWords(mistake);
  if (!documents) return std::nullopt;
  return documents->empty() ? YamlDocument{} : std::move(documents->front().document);
}

std::optional<std::vector<YamlDocument>> ParseYamlStream(std::string_view text, std::string* error) {
  YamlMistake mistake;
  auto documents = Read(text, {}, &mistake);
  if (!documents) *error = GoWords(mistake);
  if (!documents) return std::nullopt;
  std::vector<YamlDocument> out;
  for (PlacedYaml& read : *documents) out.push_back(std::move(read.document));
  return out;
}

std::optional<std::vector<PlacedYaml>> ParsePlacedYaml(std::string_view text, YamlMistake* mistake) {
  return Read(text, {.places = true}, mistake);
}

std::string YamlPathBelow(const std::string& path, std::string_view key) {
  std::string out = path + "/";
  for (char c : key) {
    if (c == '~') out += "~0";
    else if (c == '/') out += "~1";
    else out += c;
  }
  return out;
}

}  // namespace terrarium::api
