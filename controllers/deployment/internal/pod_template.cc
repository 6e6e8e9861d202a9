#include "controllers/deployment/internal/pod_template.h"

#include "api/json_access.h"
#include "api/json_text.h"

namespace terrarium::controllers::deployment {
namespace {

using api::Json;

constexpr std::size_t kNameMax = 253;  // of a DNS subdomain

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

std::string ReplicaSetName(std::string_view deployment, std::string_view hash) {
  std::string name(deployment.substr(0, kNameMax - 1 - hash.size()));
  return name.append("-").append(hash);
}

bool SameTemplate(const Json& a, const Json& b) { return ComparedText(a) == ComparedText(b); }

std::uint64_t TemplateDigest(const Json& pod_template) {
  std::uint64_t digest = 14695981039346656037u;  // FNV-1a
  for (char byte : ComparedText(pod_template)) {
    digest ^= static_cast<unsigned char>(byte);
    digest *= 1099511628211u;
  }
  return digest;
}

Json WithoutHash(Json pod_template) {
  auto metadata = pod_template.find("metadata");
  if (metadata == pod_template.end()) return pod_template;
  auto labels = metadata->find("labels");
  if (labels != metadata->end()) labels->erase(std::string(kTemplateHashLabel));
  return pod_template;
}

}  // namespace terrarium::controllers::deployment
