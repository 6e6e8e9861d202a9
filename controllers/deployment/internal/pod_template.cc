#include "controllers/deployment/internal/pod_template.h"

#include "api/json_access.h"
#include "api/json_text.h"

namespace terrarium::controllers::deployment {
namespace {

using api::Json;

constexpr std::size_t kNameMax = 253;  // of a DNS subdomain

template <typename Number>
Number Fnv1a(std::string_view bytes, Number hash, Number prime) {
  for (char byte : bytes) {
    hash ^= static_cast<unsigned char>(byte);
    hash *= prime;
  }
  return hash;
}

// Letters and digits that spell no words, as the suffixes of generated names have them.
std::string SafeEncode(std::string_view text) {
  static constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  std::string safe;
  for (char c : text) safe += kAlphabet[static_cast<unsigned char>(c) % kAlphabet.size()];
  return safe;
}

void AppendMember(std::string_view key, const Json& value, std::string& out) {
  out.append(key).append("=");
  api::AppendJson(value, out);
  out += '\n';
}

// The template as text, without the hash label; empty members of its metadata are as good as none.
std::string ComparedText(const Json& pod_template) {
  std::string text;
  for (const auto& [key, value] : api::ObjectAt(pod_template, "metadata").items()) {
    if (value.empty()) continue;  // null, {} and []
    if (key != "labels") {
      AppendMember(key, value, text);
      continue;
    }
    for (const auto& [label, content] : value.items())
      if (label != kTemplateHashLabel) AppendMember(label, content, text);
  }
  AppendMember("spec", api::ObjectAt(pod_template, "spec"), text);
  return text;
}

}  // namespace

std::string TemplateHash(const Json& pod_template, std::optional<std::int64_t> collision_count) {
  std::string text;
  api::AppendJson(pod_template, text);
  std::uint32_t hash = Fnv1a<std::uint32_t>(text, 2166136261u, 16777619u);
  if (collision_count) {
    char bytes[8] = {};
    for (int i = 0; i < 4; ++i) bytes[i] = static_cast<char>(*collision_count >> (8 * i) & 0xff);
    hash = Fnv1a<std::uint32_t>({bytes, sizeof bytes}, hash, 16777619u);
  }
  return SafeEncode(std::to_string(hash));
}

std::string ReplicaSetName(std::string_view deployment, std::string_view hash) {
  std::string name(deployment.substr(0, kNameMax - 1 - hash.size()));
  return name.append("-").append(hash);
}

bool SameTemplate(const Json& a, const Json& b) { return ComparedText(a) == ComparedText(b); }

std::uint64_t TemplateDigest(const Json& pod_template) {
  return Fnv1a<std::uint64_t>(ComparedText(pod_template), 14695981039346656037u, 1099511628211u);
}

Json WithoutHash(Json pod_template) {
  auto metadata = pod_template.find("metadata");
  if (metadata == pod_template.end()) return pod_template;
  auto labels = metadata->find("labels");
  if (labels != metadata->end()) labels->erase(std::string(kTemplateHashLabel));
  return pod_template;
}

}  // namespace terrarium::controllers::deployment
