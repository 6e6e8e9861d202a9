#pragma once

// The document that a JSON patch works on. Each operation adds, removes or looks up one value, so it must not
// cost as much as the whole list or object that the value is in.

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"

namespace terrarium::api {

// A value of the document: plain JSON until an operation goes through it; then a map of its members or a list
// in pieces.
class PatchNode {
 public:
  explicit PatchNode(Json value = nullptr) : value_(std::move(value)) {}

  bool IsObject() const { return open_ != nullptr ? !open_->is_list : value_.is_object(); }
  bool IsList() const { return open_ != nullptr ? open_->is_list : value_.is_array(); }
  bool IsNull() const { return open_ == nullptr && value_.is_null(); }

  // Of an object. References live until the member is erased.
  PatchNode* FindMember(const std::string& name);
  void SetMember(const std::string& name, PatchNode value);
  bool EraseMember(const std::string& name);

  // Of a list. REQUIRES: the position is in it (or, to insert, at its end). References live until the next
  // change.
  std::size_t ListSize();
  PatchNode& Item(std::size_t at);
  void InsertItem(std::size_t at, PatchNode value);
  void EraseItem(std::size_t at);

  // Whether the texts are equal rather than the numbers: 1 and 1.0 differ.
  bool HasText(const Json& expected) const;
  // Levels of objects and lists.
  std::size_t Depth() const;
  Json Copy() const;
  Json Take();  // leaves null

 private:
  using Piece = std::vector<PatchNode>;
  struct Children {
    bool is_list = false;
    std::map<std::string, PatchNode> members;
    std::vector<Piece> pieces;  // none is empty
    std::size_t size = 0;       // of all pieces
  };

  Children& Open();
  // The piece that holds an item, and *at becomes the position in it.
  std::size_t PieceOf(std::size_t* at);

  Json value_;  // while it is not open
  std::unique_ptr<Children> open_;
};

std::size_t DepthOf(const Json& value);

}  // namespace terrarium::api
