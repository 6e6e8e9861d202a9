#include <algorithm>
#include <deque>
#include <istream>
#include <map>
#include <streambuf>

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
  std::string message;
};

[[noreturn]] void Fail(int line, const std::string& message) {
  throw YamlFailure{"yaml: " + (line > 0 ? "line " + std::to_string(line) + ": " : std::string()) + message};
}

// A node as it stands in the text, aliases not yet followed.
struct Node {
  enum class Kind { kScalar, kList, kMap, kAlias };
  Kind kind = Kind::kScalar;
  int line = 0;
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
    node.line = mark.line + 1;
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
  Json Convert(Node& node);
  std::vector<std::string> TakeStrictErrors();

 private:
  Json Scalar(const Node& node);
  Json Map(Node& node);
  void Merge(Node& node, Json& into);
  void MergeOne(Node& node, Json& into);
  void Count();

  // A few nodes that refer to each other can stand for an enormous document. The limits are go-yaml's.
  std::size_t decoded_ = 0, by_alias_ = 0, alias_depth_ = 0;
  std::vector<std::string> repeated_;
};

void Converter::Count() {
  ++decoded_;
  if (alias_depth_ > 0) ++by_alias_;
  if (by_alias_ <= 100 || decoded_ <= 1000) return;
  const double share = std::clamp((static_cast<double>(decoded_) - 400000) / 3600000, 0.0, 1.0);
  if (static_cast<double>(by_alias_) / static_cast<double>(decoded_) > 0.99 - 0.89 * share) {
    Fail(0, "document contains excessive aliasing");
  }
}

Json Converter::Convert(Node& node) {
  Count();
  switch (node.kind) {
    case Node::Kind::kScalar:
      return Scalar(node);
    case Node::Kind::kMap:
      return Map(node);
    case Node::Kind::kAlias: {
      if (node.target == nullptr || node.target->active) Fail(0, "anchor value contains itself");
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
  for (Node* child : node.children) list.push_back(Convert(*child));
  node.active = false;
  return list;
}

Json Converter::Scalar(const Node& node) {
  // yaml-cpp marks plain scalars with "?" and quoted ones with "!".
  if (node.tag == "!" || node.tag == "tag:yaml.org,2002:str") return ValidUtf8(node.text);
  if (node.tag != "?" && !node.tag.empty() && !node.tag.starts_with("tag:yaml.org,2002:"))
    return ValidUtf8(node.text);
  std::optional<Json> value = ResolveYamlScalar(node.text);
  if (!value) Fail(node.line, "json: unsupported value: " + node.text);
  return value->is_string() ? Json(ValidUtf8(node.text)) : *value;
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
      continue;
    }
    const std::optional<std::string> key = YamlKey(Convert(key_node));
    if (!key) Fail(key_node.line, "invalid map key");
    Json value = Convert(value_node);
    if (!own.emplace(*key, true).second) {
      repeated_.push_back("line " + std::to_string(value_node.line) + ": key " + GoQuote(*key) +
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
    Fail(node.line, "map merge requires map or sequence of maps as the value");
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
    return finder.root()->line;
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
  if (!Separated(text, from_line, to_line)) Fail(to_line, "did not find expected <document start>");
}

// Reads up to `limit` documents.
std::optional<std::vector<YamlDocument>> Read(std::string_view text, std::size_t limit, bool keep_empty,
                                              std::string* error) {
  std::vector<YamlDocument> documents;
  try {
    ViewBuffer buffer(text);
    std::istream stream(&buffer);
    YAML::Parser parser(stream);
    int last_start = 0;
    while (documents.size() < limit) {
      TreeBuilder builder;
      if (!parser.HandleNextDocument(builder)) break;
      if (builder.root() == nullptr) continue;
      if (last_start > 0) CheckSeparated(text, last_start, builder.root()->line);
      Converter converter;
      Json value = converter.Convert(*builder.root());
      // An empty document is found only where the next one begins.
      if (!value.is_null()) last_start = builder.root()->line;
      if (value.is_null() && !keep_empty) continue;
      documents.push_back({std::move(value), builder.root()->line, converter.TakeStrictErrors()});
    }
    const int next = documents.size() == limit ? NextStart(parser) : 0;
    if (next > 0) CheckSeparated(text, last_start, next);
  } catch (const YamlFailure& failure) {
    *error = failure.message;
    return std::nullopt;
  } catch (const YAML::Exception& failure) {
    *error = "yaml: line " + std::to_string(failure.mark.line + 1) + ": " + LibyamlWords(failure.msg);
    return std::nullopt;
  }
  return documents;
}

}  // namespace

std::optional<YamlDocument> ParseYaml(std::string_view text, std::string* error) {
  auto documents = Read(text, 1, /*keep_empty=*/true, error);
  if (!documents) return std::nullopt;
  return documents->empty() ? YamlDocument{} : std::move(documents->front());
}

std::optional<std::vector<YamlDocument>> ParseYamlStream(std::string_view text, std::string* error) {
  return Read(text, static_cast<std::size_t>(-1), /*keep_empty=*/false, error);
}

}  // namespace terrarium::api
