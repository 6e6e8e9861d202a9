#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/codec/internal/yaml_events.h"
#include "api/codec/internal/yaml_scalar.h"
#include "api/codec/yaml.h"
#include "api/json.h"

namespace terrarium::api {

// Makes the value of one document from its events: follows aliases and merge keys, gives scalars their types
// and finds repeated keys, as go-yaml v2 and sigs.k8s.io/yaml do. It builds no tree of nodes in between. Only
// the events of nodes that an alias may refer to, and of lists of maps to merge, are kept, on a tape that is
// replayed for each alias. No function recurses with the depth of the document.
class YamlBuilder {
 public:
  struct Options {
    YamlPlaces* places = nullptr;  // filled when given
    bool has_aliases = true;       // false when the text has none, so that no anchor needs to be kept
  };
  explicit YamlBuilder(const Options& options) : places_(options.places), keep_(options.has_aliases) {}

  // Adds the next event. A false result is final: the document refers to an anchor that it does not have.
  // Like go-yaml, it reports other invalid values only after the whole document is parsed, so that later
  // syntax errors come first.
  [[nodiscard]] bool Add(const YamlEvent& event);

  // The error of the document, once Add has returned false or the document has ended.
  const YamlFailure* failure();
  Json TakeValue() { return std::move(root_); }
  std::vector<std::string> TakeStrictErrors();

 private:
  // One event on the tape, by its index.
  struct Taped {
    YamlEvent::Kind kind;
    bool is_plain;
    YamlPlace place;
    std::uint32_t text_size, tag_size;
    std::size_t text_at;       // in tape_text_; the tag follows the text
    std::uint32_t end = 0;     // behind the node; 0 while a list or a map is open
    std::uint32_t target = 0;  // of an alias
  };
  static constexpr std::uint32_t kNotTaped = static_cast<std::uint32_t>(-1);

  // A part of the tape that is being replayed.
  struct Cursor {
    std::uint32_t at, end;
    bool by_alias;
    bool merges;  // the node at `at` is an item of a list of maps to merge
  };

  enum class State : std::uint8_t { kKey, kValue, kMergeValue, kMergeItem };
  // A list or a map that is open.
  struct Frame {
    bool is_map = false;
    bool is_merged = false;     // its members go to another map, that of the frame `target`
    State state = State::kKey;  // of a map: the event that comes next
    YamlType key_type = YamlType::kString;
    int value_line = 0;  // of the member whose key was read; 0 until the value begins
    std::size_t target = 0;
    std::size_t members_begin = 0;  // in members_
    std::size_t path_size = 0;
    YamlPlace place, key_place;
    std::string key;
    std::string bad_key;  // how Go prints a key that is invalid in JSON
    Json value;
  };
  // What a repeated key is reported with.
  struct Member {
    int line;
    std::uint32_t number;  // members in the order in which they were complete
    YamlType type;
  };
  struct Repeated {
    std::uint32_t number;
    std::string text;
  };

  std::uint32_t Record(const YamlEvent& event, std::uint32_t target);
  YamlEvent FromTape(std::uint32_t index) const;
  void Replay();
  void TakeEvent(const YamlEvent& event, std::uint32_t index, std::uint32_t target);
  void TakeMergeEvent(const YamlEvent& event, std::uint32_t index, std::uint32_t target);
  void MergeItems(std::uint32_t list);
  void Follow(const YamlEvent& alias, std::uint32_t index, std::uint32_t target);
  void Open(const YamlEvent& event, bool is_merged);
  void Close();
  void TakeScalar(const YamlEvent& event);
  void TakeKey(const YamlEvent& event, const YamlScalar& scalar);
  void Deliver(Json value, YamlPlace place);
  void SortMembers(Frame& map);
  void ReportRepeated(const Member& member, const std::string& key);
  void NotePlace(const YamlEvent& event);
  void Count();
  void CountText(std::size_t bytes);
  void Fail(YamlPlace place, std::string message);

  YamlPlaces* places_;
  bool keep_;
  Json root_;
  std::vector<Frame> frames_;
  std::vector<Member> members_;  // of all open maps, the innermost last
  std::uint32_t member_count_ = 0;
  std::vector<Repeated> repeated_;
  // Longer reports are cut off. Go's error would be longer than the body.
  static constexpr std::size_t kRepeatedBytesMax = 4 * 1024 * 1024;
  std::size_t repeated_bytes_ = 0;
  std::string path_;  // kept where places are wanted

  std::deque<Taped> tape_;
  std::string tape_text_;
  std::vector<std::uint32_t> tape_open_;                       // lists and maps on the tape that are open
  std::map<std::string, std::uint32_t, std::less<>> anchors_;  // to the index of the node
  std::vector<Cursor> cursors_;
  std::optional<std::uint32_t> merge_list_;  // a list of maps to merge that is being recorded

  // A few nodes that refer to each other can expand to an enormous document. The limits are go-yaml's, which
  // counts the document as a node.
  std::size_t decoded_ = 1, by_alias_ = 0, alias_depth_ = 0;
  // Go's copies of a text share its bytes and ours do not, so the bytes are limited as well.
  static constexpr std::size_t kAliasedBytesMax = 16 * 1024 * 1024;
  std::size_t aliased_bytes_ = 0;

  // Go reports errors in this order: go-yaml's decoder, the conversion of keys to strings, the JSON encoder.
  std::optional<YamlFailure> failure_, key_failure_;
  bool has_infinite_ = false;  // a float that is infinite or not a number, which JSON cannot hold
  YamlPlace infinite_place_;
};

}  // namespace terrarium::api
