#include "controllers/garbage_collector/internal/ownership.h"

#include <algorithm>
#include <tuple>

#include "api/base/check.h"
#include "api/json.h"

namespace terrarium::controllers::garbage_collector {
namespace {

constexpr std::string_view kBeforeMetadata = R"({"metadata":{)";

// The place after the string that begins with the quote at `at`.
std::size_t AfterString(std::string_view text, std::size_t at) {
  for (std::size_t quote = at;;) {
    quote = text.find('"', quote + 1);
    CHECK(quote != std::string_view::npos);
    // A quote is escaped when an odd number of backslashes stands before it.
    std::size_t before = quote;
    while (text[before - 1] == '\\') --before;
    if ((quote - before) % 2 == 0) return quote + 1;
  }
}

// The place after the value that begins at `at`: where its comma or the end of its object is.
std::size_t AfterValue(std::string_view text, std::size_t at) {
  int depth = 0;
  for (std::size_t i = at; i < text.size();) {
    switch (text[i]) {
      case '"':
        i = AfterString(text, i);
        if (depth == 0) return i;
        continue;
      case '{':
      case '[': ++depth; break;
      case '}':
      case ']':
        if (depth == 0) return i;  // the end of the object around a number or a word
        if (--depth == 0) return i + 1;
        break;
      case ',':
        if (depth == 0) return i;
        break;
      default: break;
    }
    ++i;
  }
  return text.size();
}

bool Names(std::string_view finalizers, std::string_view name) {
  // Names of finalizers hold no quotes, so that one is in the list when its quoted form is in the text.
  for (std::size_t at = finalizers.find(name); at != std::string_view::npos;
       at = finalizers.find(name, at + 1)) {
    if (finalizers[at - 1] == '"' && finalizers[at + name.size()] == '"') return true;
  }
  return false;
}

DeletionMarks MarksOf(const api::Object& object, const MetadataText& text) {
  return {object.header().deleting, Names(text.finalizers, kOrphanFinalizer),
          Names(text.finalizers, kForegroundFinalizer)};
}

}  // namespace

MetadataText ScanMetadata(std::string_view body) {
  CHECK(body.starts_with(kBeforeMetadata));
  MetadataText found;
  std::size_t at = kBeforeMetadata.size();
  while (at < body.size() && body[at] == '"') {
    std::size_t after_key = AfterString(body, at);
    std::string_view key = body.substr(at + 1, after_key - at - 2);
    std::size_t value = after_key + 1;  // the colon
    std::size_t end = AfterValue(body, value);
    if (key == "finalizers") found.finalizers = body.substr(value, end - value);
    if (key == "ownerReferences") found.owner_references = body.substr(value, end - value);
    if (end >= body.size() || body[end] != ',') break;
    at = end + 1;
  }
  return found;
}

DeletionMarks DeletionMarksOf(const api::Object& object) {
  return MarksOf(object, ScanMetadata(object.body()));
}

Ownership OwnershipOf(const api::Object& object) {
  MetadataText text = ScanMetadata(object.body());
  Ownership ownership{{}, MarksOf(object, text)};
  if (!text.owner_references.empty()) {
    api::Json document;
    document["metadata"]["ownerReferences"] = api::Json::parse(text.owner_references);
    ownership.owners = OwnerReferencesOf(document);
  }
  return ownership;
}

bool SameOwnership(const api::Object& before, const api::Object& after) {
  if (before.header().deleting != after.header().deleting) return false;
  MetadataText a = ScanMetadata(before.body());
  MetadataText b = ScanMetadata(after.body());
  return a.finalizers == b.finalizers && a.owner_references == b.owner_references;
}

bool SameReference(const OwnerReference& a, const OwnerReference& b) {
  auto all = [](const OwnerReference& r) {
    return std::tie(r.uid, r.name, r.kind, r.api_version, r.controller, r.block_owner_deletion);
  };
  return all(a) == all(b);
}

bool SameReferences(const std::vector<OwnerReference>& a, const std::vector<OwnerReference>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), SameReference);
}

}  // namespace terrarium::controllers::garbage_collector
