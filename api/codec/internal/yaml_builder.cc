#include "api/codec/internal/yaml_builder.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "api/codec/decode.h"
#include "api/codec/go_words.h"

namespace terrarium::api {
namespace {

using Kind = YamlEvent::Kind;

// Errors do not repeat a body of any size, as Go's would.
constexpr std::size_t kPrintedBytesMax = 1024;

void AppendGoFloat(double value, std::string& out) {
  if (!std::isfinite(value)) {
    out.append(std::isnan(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf");
    return;
  }
  char text[32];
  out.append(text, std::to_chars(text, text + sizeof text, value).ptr);
}

// What Go's %#v prints of a value.
void AppendGoValue(const Json& value, std::string& out) {
  if (out.size() > kPrintedBytesMax) return;
  const char* separator = "";
  switch (value.type()) {
    case Json::value_t::null: out.append("interface {}(nil)"); return;
    case Json::value_t::string: out.append(GoQuote(value.get_ref<const std::string&>())); return;
    case Json::value_t::number_float: AppendGoFloat(value.get<double>(), out); return;
    case Json::value_t::number_unsigned: {
      char text[32] = "0x";
      out.append(text, std::to_chars(text + 2, text + sizeof text, value.get<std::uint64_t>(), 16).ptr);
      return;
    }
    case Json::value_t::array:
      out.append("[]interface {}{");
      for (const Json& item : value) {
        out.append(std::exchange(separator, ", "));
        AppendGoValue(item, out);
        if (out.size() > kPrintedBytesMax) return;
      }
      out.append("}");
      return;
    case Json::value_t::object:
      out.append("map[interface {}]interface {}{");
      for (const auto& [name, member] : value.get_ref<const Json::object_t&>()) {
        out.append(std::exchange(separator, ", ")).append(GoQuote(name.text())).append(":");
        AppendGoValue(member, out);
        if (out.size() > kPrintedBytesMax) return;
      }
      out.append("}");
      return;
    default: out.append(value.dump());
  }
}

// A null inside a value is printed with its type, and one that stands alone is not.
std::string GoValue(const Json& value) {
  std::string out;
  if (value.is_null()) return "<nil>";
  AppendGoValue(value, out);
  if (out.size() > kPrintedBytesMax) out.resize(kPrintedBytesMax), out.append("...");
  return out;
}

// The first float, in the order of the JSON encoder, that is not finite.
const Json* FindInfinite(const Json& value) {
  if (value.is_number_float()) return std::isfinite(value.get<double>()) ? nullptr : &value;
  if (!value.is_structured()) return nullptr;
  for (const Json& item : value) {
    if (const Json* found = FindInfinite(item)) return found;
  }
  return nullptr;
}

bool IsMergeKey(const YamlEvent& event) {
  return event.kind == Kind::kScalar && event.text == "<<" &&
         (event.is_plain || event.tag == "tag:yaml.org,2002:merge");
}

// The first eight bytes, so that prefixes compare as the texts do.
std::uint64_t PrefixOf(std::string_view text) {
  std::uint64_t prefix = 0;
  for (std::size_t i = 0; i < sizeof prefix; ++i)
    prefix = prefix << 8 | (i < text.size() ? static_cast<unsigned char>(text[i]) : 0);
  return prefix;
}

void AppendPathStep(std::string& path, std::string_view key) { path = YamlPathBelow(path, key); }

}  // namespace

bool YamlBuilder::Add(const YamlEvent& event) {
  std::uint32_t target = 0;
  if (event.kind == Kind::kAlias) {
    auto anchor = anchors_.find(event.text);
    if (anchor == anchors_.end()) {
      failure_ = MakeYamlFailure(event.place, "unknown anchor '" + std::string(event.text) + "' referenced");
      return false;
    }
    target = anchor->second;
  }
  const bool is_anchored = keep_ && !event.anchor.empty();
  if (failure_) {  // only mistakes of syntax and unknown anchors matter now
    if (is_anchored) anchors_[std::string(event.anchor)] = 0;
    return true;
  }
  const bool is_merge_list = event.kind == Kind::kList && !frames_.empty() && frames_.back().is_map &&
                             frames_.back().state == State::kMergeValue && !merge_list_;
  std::uint32_t index = kNotTaped;
  if (is_anchored || is_merge_list || !tape_open_.empty()) index = Record(event, target);
  if (is_anchored) anchors_[std::string(event.anchor)] = index;
  if (!merge_list_) {
    TakeEvent(event, index, target);
    if (is_merge_list) merge_list_ = index;
  } else if (tape_[*merge_list_].end != 0) {
    frames_.back().state = State::kKey;
    MergeItems(*std::exchange(merge_list_, std::nullopt));
  }
  Replay();
  return true;
}

const YamlFailure* YamlBuilder::failure() {
  if (!failure_) failure_ = std::move(key_failure_);
  if (!failure_ && has_infinite_) {
    if (const Json* found = FindInfinite(root_)) {
      const std::string message = "json: unsupported value: " + GoValue(*found);
      failure_ = {infinite_place_, message, message};
    }
  }
  return failure_ ? &*failure_ : nullptr;
}

std::vector<std::string> YamlBuilder::TakeStrictErrors() {
  if (repeated_.empty()) return {};
  std::sort(repeated_.begin(), repeated_.end(),
            [](const Repeated& a, const Repeated& b) { return a.number < b.number; });
  std::string text = "yaml: unmarshal errors:";
  for (const Repeated& key : repeated_) text.append("\n  ").append(key.text);
  return {std::move(text)};
}

void YamlBuilder::Fail(YamlPlace place, std::string message) {
  if (!failure_) failure_ = MakeYamlFailure(place, std::move(message));
  cursors_.clear();
}

std::uint32_t YamlBuilder::Record(const YamlEvent& event, std::uint32_t target) {
  const auto index = static_cast<std::uint32_t>(tape_.size());
  tape_.push_back({.kind = event.kind,
                   .is_plain = event.is_plain,
                   .place = event.place,
                   .text_size = static_cast<std::uint32_t>(event.text.size()),
                   .tag_size = static_cast<std::uint32_t>(event.tag.size()),
                   .text_at = tape_text_.size(),
                   .end = index + 1,
                   .target = target});
  tape_text_.append(event.text).append(event.tag);
  if (event.kind == Kind::kList || event.kind == Kind::kMap) {
    tape_.back().end = 0;
    tape_open_.push_back(index);
  } else if (event.kind == Kind::kEnd) {
    tape_[tape_open_.back()].end = index + 1;
    tape_open_.pop_back();
  }
  return index;
}

YamlEvent YamlBuilder::FromTape(std::uint32_t index) const {
  const Taped& taped = tape_[index];
  const std::string_view text = tape_text_;
  return {.kind = taped.kind,
          .is_plain = taped.is_plain,
          .place = taped.place,
          .text = text.substr(taped.text_at, taped.text_size),
          .tag = text.substr(taped.text_at + taped.text_size, taped.tag_size),
          .anchor = {}};
}

void YamlBuilder::Replay() {
  while (!cursors_.empty()) {
    Cursor& cursor = cursors_.back();
    if (cursor.at == cursor.end) {
      if (cursor.by_alias) --alias_depth_;
      cursors_.pop_back();
      continue;
    }
    if (std::exchange(cursor.merges, false)) frames_.back().state = State::kMergeItem;
    const std::uint32_t index = cursor.at++;
    TakeEvent(FromTape(index), index, tape_[index].target);  // may change cursors_
  }
}

void YamlBuilder::TakeEvent(const YamlEvent& event, std::uint32_t index, std::uint32_t target) {
  if (event.kind == Kind::kEnd) return Close();
  if (!frames_.empty() && frames_.back().is_map) {
    Frame& map = frames_.back();
    if (map.state == State::kMergeValue || map.state == State::kMergeItem)
      return TakeMergeEvent(event, index, target);
    if (map.state == State::kKey && IsMergeKey(event)) {
      map.state = State::kMergeValue;
      return;
    }
    // Of a value that an alias stands for, the line is that of the alias.
    if (map.state == State::kValue && map.value_line == 0) map.value_line = event.place.line;
  }
  Count();
  if (failure_) return;
  if (event.kind == Kind::kAlias) return Follow(event, index, target);
  if (places_ != nullptr) NotePlace(event);
  if (event.kind == Kind::kScalar) return TakeScalar(event);
  Open(event, /*is_merged=*/false);
}

// The members of a merged map become members of the map that is open, and replace those that came before
// them.
void YamlBuilder::TakeMergeEvent(const YamlEvent& event, std::uint32_t index, std::uint32_t target) {
  const bool is_item = frames_.back().state == State::kMergeItem;
  const bool is_map_alias = event.kind == Kind::kAlias && tape_[target].kind == Kind::kMap;
  if (event.kind == Kind::kMap) {
    frames_.back().state = State::kKey;
    Count();
    if (!failure_) Open(event, /*is_merged=*/true);
  } else if (is_map_alias) {
    frames_.back().state = State::kMergeValue;  // for the map that comes from the tape
    Count();
    if (!failure_) Follow(event, index, target);
  } else if (event.kind == Kind::kList && !is_item) {
    if (tape_[index].end == 0) return;  // Add records it first, because its items are merged from the last
    frames_.back().state = State::kKey;
    cursors_.back().at = tape_[index].end;
    MergeItems(index);
  } else {
    Fail(event.place, "map merge requires map or sequence of maps as the value");
  }
}

void YamlBuilder::MergeItems(std::uint32_t list) {
  for (std::uint32_t item = list + 1; item + 1 < tape_[list].end; item = tape_[item].end)
    cursors_.push_back({item, tape_[item].end, /*by_alias=*/false, /*merges=*/true});
}

void YamlBuilder::Follow(const YamlEvent& alias, std::uint32_t index, std::uint32_t target) {
  const std::uint32_t end = tape_[target].end;
  const bool is_inside = index != kNotTaped && index >= target && index < end;
  if (end == 0 || is_inside)
    return Fail(alias.place, "anchor '" + std::string(alias.text) + "' value contains itself");
  ++alias_depth_;
  cursors_.push_back({target, end, /*by_alias=*/true, /*merges=*/false});
}

void YamlBuilder::Open(const YamlEvent& event, bool is_merged) {
  if (frames_.size() >= kMaxJsonDepth)
    return Fail(event.place, "exceeded max depth of " + std::to_string(kMaxJsonDepth));
  const std::size_t index = frames_.size();
  Frame frame;
  frame.is_map = event.kind == Kind::kMap;
  frame.is_merged = is_merged;
  frame.target = is_merged ? frames_.back().target : index;
  frame.members_begin = members_.size();
  frame.path_size = is_merged ? frames_.back().path_size : path_.size();
  frame.place = event.place;
  if (!is_merged) frame.value = frame.is_map ? Json::object() : Json::array();
  frames_.push_back(std::move(frame));
}

void YamlBuilder::Close() {
  Frame frame = std::move(frames_.back());
  frames_.pop_back();
  if (frame.is_merged) return;
  if (frame.is_map) {
    SortMembers(frame);
    members_.resize(frame.members_begin);
  }
  Deliver(std::move(frame.value), frame.place);
}

void YamlBuilder::TakeScalar(const YamlEvent& event) {
  CountText(event.text.size());
  YamlScalar scalar;
  if (event.is_plain || !event.tag.empty()) {
    std::string error;
    auto resolved = ResolveTaggedYamlScalar(event.tag, event.text, &error);
    if (!resolved) return Fail(event.place, error);
    scalar = std::move(*resolved);
  }
  if (!frames_.empty() && frames_.back().is_map && frames_.back().state == State::kKey)
    return TakeKey(event, scalar);
  Json value = YamlScalarToJson(std::move(scalar), event.text);
  if (value.is_number_float() && !std::isfinite(value.get<double>()) && !std::exchange(has_infinite_, true))
    infinite_place_ = event.place;
  Deliver(std::move(value), event.place);
}

void YamlBuilder::TakeKey(const YamlEvent& event, const YamlScalar& scalar) {
  Frame& map = frames_.back();
  map.state = State::kValue;
  map.value_line = 0;
  map.key_type = scalar.type;
  map.key_place = event.place;
  std::optional<std::string> key = YamlKey(scalar, event.text);
  map.bad_key.clear();
  if (!key)
    map.bad_key =
        scalar.type == YamlType::kNull ? "%!s(<nil>), key: <nil>" : "uint64, key: " + GoValue(scalar.value);
  map.key = key ? std::move(*key) : std::string();
  if (places_ == nullptr) return;
  path_.resize(map.path_size);
  AppendPathStep(path_, map.key);
  (*places_)[path_ + "#"] = event.place;
}

void YamlBuilder::Deliver(Json value, YamlPlace place) {
  if (frames_.empty()) {
    root_ = std::move(value);
    return;
  }
  Frame& parent = frames_.back();
  if (!parent.is_map) {
    parent.value.push_back(std::move(value));
    return;
  }
  if (parent.state == State::kKey) return Fail(place, "invalid map key: " + GoValue(value));
  parent.state = State::kKey;
  if (!parent.bad_key.empty()) {
    if (key_failure_) return;
    const std::string message =
        "unsupported map key of type: " + parent.bad_key + ", value: " + GoValue(value);
    key_failure_ = {parent.key_place, message, message};
    return;
  }
  auto& members = frames_[parent.target].value.get_ref<Json::object_t&>();
  members.AppendUnsorted(parent.key) = std::move(value);
  members_.push_back({parent.value_line, member_count_++, parent.key_type});
}

// Brings the members of a map into order. Of several with one key the last one stays, and the others are
// reported. Compares the first bytes of names before the names themselves, which are all over the memory.
void YamlBuilder::SortMembers(Frame& map) {
  auto& members = map.value.get_ref<Json::object_t&>();
  auto not_before = [](const auto& a, const auto& b) { return !(a.first.text() < b.first.text()); };
  if (std::adjacent_find(members.begin(), members.end(), not_before) == members.end()) return;
  struct Key {
    std::uint64_t prefix;
    std::uint32_t index;
  };
  auto name = [&](const Key& key) -> const std::string& {
    return (members.begin() + key.index)->first.text();
  };
  std::vector<Key> keys;
  keys.reserve(members.size());
  for (const auto& member : members)
    keys.push_back({PrefixOf(member.first.text()), static_cast<std::uint32_t>(keys.size())});
  std::sort(keys.begin(), keys.end(), [&](const Key& a, const Key& b) {
    if (a.prefix != b.prefix) return a.prefix < b.prefix;
    const int order = name(a).compare(name(b));
    return order != 0 ? order < 0 : a.index < b.index;
  });
  Json::object_t::container sorted;
  sorted.reserve(keys.size());
  unsigned types = 0;  // of the keys before this one that have its text; Go's keys have a type: 1 is not "1"
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Member& member = members_[map.members_begin + keys[i].index];
    const std::string& text = name(keys[i]);
    const unsigned type = 1U << static_cast<unsigned>(member.type);
    if ((types & type) != 0) ReportRepeated(member, text);
    const bool is_last =
        i + 1 == keys.size() || keys[i + 1].prefix != keys[i].prefix || name(keys[i + 1]) != text;
    types = is_last ? 0 : types | type;
    if (is_last) sorted.push_back(std::move(*(members.begin() + keys[i].index)));
  }
  members = Json::object_t(std::move(sorted));
}

void YamlBuilder::ReportRepeated(const Member& member, const std::string& key) {
  if (repeated_bytes_ > kRepeatedBytesMax) return;
  repeated_.push_back({member.number, "line " + std::to_string(member.line) + ": key " +
                                          (member.type == YamlType::kString ? GoQuote(key) : key) +
                                          " already set in map"});
  repeated_bytes_ += repeated_.back().text.size();
}

// A key has no path of its own.
void YamlBuilder::NotePlace(const YamlEvent& event) {
  if (frames_.empty()) {
    path_.clear();
  } else {
    const Frame& parent = frames_.back();
    if (parent.is_map && parent.state == State::kKey) return;
    path_.resize(parent.path_size);
    AppendPathStep(path_, parent.is_map ? parent.key : std::to_string(parent.value.size()));
  }
  (*places_)[path_] = event.place;
}

void YamlBuilder::Count() {
  ++decoded_;
  if (alias_depth_ > 0) ++by_alias_;
  if (by_alias_ <= 100 || decoded_ <= 1000) return;
  const double share = std::clamp((static_cast<double>(decoded_) - 400000) / 3600000, 0.0, 1.0);
  if (static_cast<double>(by_alias_) / static_cast<double>(decoded_) > 0.99 - 0.89 * share)
    Fail({}, "document contains excessive aliasing");
}

void YamlBuilder::CountText(std::size_t bytes) {
  if (alias_depth_ > 0) aliased_bytes_ += bytes;
  if (aliased_bytes_ > kAliasedBytesMax) Fail({}, "document contains excessive aliasing");
}

}  // namespace terrarium::api
