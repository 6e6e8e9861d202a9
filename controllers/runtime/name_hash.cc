#include "controllers/runtime/name_hash.h"

#include "api/json_text.h"

namespace terrarium::controllers {
namespace {

constexpr std::uint32_t kFnv32Prime = 16777619u;

}  // namespace

std::uint32_t Fnv1(std::string_view bytes, std::uint32_t hash) {
  for (char byte : bytes) {
    hash *= kFnv32Prime;
    hash ^= static_cast<unsigned char>(byte);
  }
  return hash;
}

std::uint32_t Fnv1a(std::string_view bytes, std::uint32_t hash) {
  for (char byte : bytes) {
    hash ^= static_cast<unsigned char>(byte);
    hash *= kFnv32Prime;
  }
  return hash;
}

std::string SafeEncode(std::uint32_t hash) {
  static constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  std::string safe = std::to_string(hash);
  for (char& c : safe) c = kAlphabet[static_cast<unsigned char>(c) % kAlphabet.size()];
  return safe;
}

std::string TemplateHash(const api::Json& pod_template, std::optional<std::int64_t> collision_count) {
  std::string text;
  api::AppendJson(pod_template, text);
  std::uint32_t hash = Fnv1a(text);
  if (collision_count) {
    char bytes[8] = {};
    for (int i = 0; i < 4; ++i) bytes[i] = static_cast<char>(*collision_count >> (8 * i) & 0xff);
    hash = Fnv1a({bytes, sizeof bytes}, hash);
  }
  return SafeEncode(hash);
}

}  // namespace terrarium::controllers
