#include "api/patch/internal/patch_tree.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace terrarium::api {
namespace {

// Moving half a piece costs about as much as walking over the pieces of the longest list that a request can
// hold.
constexpr std::size_t kPiece = 512;

bool SameText(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number()) return a.is_number_float() == b.is_number_float() && a == b;
  if (a.type() != b.type()) return false;
  if (a.is_array()) return std::equal(a.begin(), a.end(), b.begin(), b.end(), SameText);
  if (!a.is_object()) return a == b;
  const auto& x = a.get_ref<const Json::object_t&>();
  const auto& y = b.get_ref<const Json::object_t&>();
  return std::equal(x.begin(), x.end(), y.begin(), y.end(), [](const auto& m, const auto& n) {
    return m.first == n.first && SameText(m.second, n.second);
  });
}

}  // namespace

PatchNode::Children& PatchNode::Open() {
  if (open_ != nullptr) return *open_;
  open_ = std::make_unique<Children>();
  open_->is_list = value_.is_array();
  if (open_->is_list) {
    for (Json& item : value_) {
      if (open_->size % kPiece == 0)
        open_->pieces.emplace_back().reserve(std::min(kPiece, value_.size() - open_->size));
      open_->pieces.back().emplace_back(std::move(item));
      ++open_->size;
    }
  } else {
    for (auto& [name, value] : value_.get_ref<Json::object_t&>())
      open_->members.emplace_hint(open_->members.end(), name.text(), std::move(value));
  }
  value_ = nullptr;
  return *open_;
}

PatchNode* PatchNode::FindMember(const std::string& name) {
  auto& members = Open().members;
  auto it = members.find(name);
  return it == members.end() ? nullptr : &it->second;
}

void PatchNode::SetMember(const std::string& name, PatchNode value) {
  Open().members.insert_or_assign(name, std::move(value));
}

bool PatchNode::EraseMember(const std::string& name) { return Open().members.erase(name) == 1; }

std::size_t PatchNode::ListSize() { return Open().size; }

std::size_t PatchNode::PieceOf(std::size_t* at) {
  std::size_t piece = 0;
  for (; *at >= open_->pieces[piece].size(); ++piece) *at -= open_->pieces[piece].size();
  return piece;
}

PatchNode& PatchNode::Item(std::size_t at) {
  Children& list = Open();
  const std::size_t piece = PieceOf(&at);
  return list.pieces[piece][at];
}

void PatchNode::InsertItem(std::size_t at, PatchNode value) {
  Children& list = Open();
  if (list.pieces.empty()) list.pieces.emplace_back();
  const bool at_end = at == list.size;
  const std::size_t index = at_end ? list.pieces.size() - 1 : PieceOf(&at);
  Piece& piece = list.pieces[index];
  const auto place = at_end ? piece.end() : piece.begin() + static_cast<std::ptrdiff_t>(at);
  piece.insert(place, std::move(value));
  ++list.size;
  if (piece.size() <= 2 * kPiece) return;
  const auto half = piece.begin() + static_cast<std::ptrdiff_t>(kPiece);
  Piece second(std::make_move_iterator(half), std::make_move_iterator(piece.end()));
  piece.erase(half, piece.end());
  list.pieces.insert(list.pieces.begin() + static_cast<std::ptrdiff_t>(index + 1), std::move(second));
}

void PatchNode::EraseItem(std::size_t at) {
  Children& list = Open();
  const std::size_t index = PieceOf(&at);
  Piece& piece = list.pieces[index];
  piece.erase(piece.begin() + static_cast<std::ptrdiff_t>(at));
  --list.size;
  if (piece.empty()) list.pieces.erase(list.pieces.begin() + static_cast<std::ptrdiff_t>(index));
}

bool PatchNode::HasText(const Json& expected) const {
  if (open_ == nullptr) return SameText(value_, expected);
  if (open_->is_list) {
    if (!expected.is_array() || expected.size() != open_->size) return false;
    auto next = expected.begin();
    for (const Piece& piece : open_->pieces)
      for (const PatchNode& item : piece)
        if (!item.HasText(*next++)) return false;
    return true;
  }
  if (!expected.is_object() || expected.size() != open_->members.size()) return false;
  auto next = expected.begin();
  for (const auto& [name, value] : open_->members) {
    if (name != next.key() || !value.HasText(*next)) return false;
    ++next;
  }
  return true;
}

std::size_t DepthOf(const Json& value) {
  if (!value.is_structured()) return 0;
  std::size_t below = 0;
  for (const Json& child : value) below = std::max(below, DepthOf(child));
  return below + 1;
}

std::size_t PatchNode::Depth() const {
  if (open_ == nullptr) return DepthOf(value_);
  std::size_t below = 0;
  for (const auto& [name, value] : open_->members) below = std::max(below, value.Depth());
  for (const Piece& piece : open_->pieces)
    for (const PatchNode& item : piece) below = std::max(below, item.Depth());
  return below + 1;
}

Json PatchNode::Copy() const {
  if (open_ == nullptr) return value_;
  if (open_->is_list) {
    Json::array_t items;
    items.reserve(open_->size);
    for (const Piece& piece : open_->pieces)
      for (const PatchNode& item : piece) items.push_back(item.Copy());
    return items;
  }
  Json::object_t members;
  members.reserve(open_->members.size());
  for (const auto& [name, value] : open_->members) members.emplace(name, value.Copy());
  return members;
}

Json PatchNode::Take() {
  if (open_ == nullptr) return std::exchange(value_, nullptr);
  const std::unique_ptr<Children> taken = std::move(open_);
  if (taken->is_list) {
    Json::array_t items;
    items.reserve(taken->size);
    for (Piece& piece : taken->pieces)
      for (PatchNode& item : piece) items.push_back(item.Take());
    return items;
  }
  Json::object_t members;
  members.reserve(taken->members.size());
  for (auto& [name, value] : taken->members) members.emplace(name, value.Take());
  return members;
}

}  // namespace terrarium::api
