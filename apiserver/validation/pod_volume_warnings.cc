#include <array>

#include "apiserver/validation/internal/pod_rules.h"
#include "apiserver/validation/internal/pod_warnings.h"

namespace terrarium::apiserver {

using namespace pod_rules;

namespace {

struct OldSource {
  std::string_view field;
  std::string_view path;
  std::string_view message;
};

// Those before and after the check of an ephemeral volume's claim, in Kubernetes' order.
constexpr std::array<OldSource, 7> kOldSources = {{
    {"photonPersistentDisk", "photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"},
    {"gitRepo", "gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"},
    {"scaleIO", "scaleIO", "deprecated in v1.16, non-functional in v1.22+"},
    {"flocker", "flocker", "deprecated in v1.22, non-functional in v1.25+"},
    {"storageos", "storageOS", "deprecated in v1.22, non-functional in v1.25+"},
    {"quobyte", "quobyte", "deprecated in v1.22, non-functional in v1.25+"},
    {"glusterfs", "glusterfs", "deprecated in v1.25, non-functional in v1.26+"},
}};
constexpr std::array<OldSource, 2> kNewlyOldSources = {{
    {"cephfs", "cephfs", "deprecated in v1.28, non-functional in v1.31+"},
    {"rbd", "rbd", "deprecated in v1.28, non-functional in v1.31+"},
}};

// A file that a volume shows, and where it comes from ("" inside a single source).
struct File {
  std::string path;
  std::string source;

  std::string String() const {
    return source.empty() ? api::Quote(path) : api::Quote(path) + " (" + source + ")";
  }
};

std::vector<File> FilesOf(const Json& items, const std::string& source) {
  std::vector<File> out;
  for (const Json& item : items) out.push_back({std::string(StringAt(item, "path")), source});
  return out;
}

bool Overlaps(const File& a, const File& b) {
  if (a.path.empty() || b.path.empty()) return false;
  return (a.path + "/").starts_with(b.path + "/") || (b.path + "/").starts_with(a.path + "/");
}

// Adds the files one by one to `shown` and names each pair of which one hides the other.
void WarnOverlaps(std::string_view volume, const std::string& description, std::vector<File> files,
                  std::vector<File>& shown, Warnings& out) {
  for (File& file : files) {
    while (file.path.ends_with("/")) file.path.pop_back();
    for (const File& other : shown) {
      if (!Overlaps(file, other)) continue;
      out.push_back("volume " + api::Quote(volume) + " (" + description + "): overlapping paths: " + file.String() +
                    " with " + other.String());
    }
    shown.push_back(std::move(file));
  }
}

std::vector<File> ProjectedFiles(const Json& source) {
  if (const Json* map = Find(source, "configMap"); map != nullptr && Find(*map, "items") != nullptr) {
    return FilesOf(ListAt(*map, "items"), "ConfigMap " + api::Quote(StringAt(*map, "name")));
  }
  if (const Json* secret = Find(source, "secret"); secret != nullptr && Find(*secret, "items") != nullptr) {
    return FilesOf(ListAt(*secret, "items"), "Secret " + api::Quote(StringAt(*secret, "name")));
  }
  if (const Json* downward = Find(source, "downwardAPI"); downward != nullptr && Find(*downward, "items") != nullptr) {
    return FilesOf(ListAt(*downward, "items"), "DownwardAPI");
  }
  if (const Json* token = Find(source, "serviceAccountToken")) {
    return {{std::string(StringAt(*token, "path")), "ServiceAccountToken"}};
  }
  return {};
}

void WarnOverlappingFiles(const Json& volume, Warnings& out) {
  const std::string_view name = StringAt(volume, "name");
  std::vector<File> shown;
  if (const Json* map = Find(volume, "configMap")) {
    WarnOverlaps(name, "ConfigMap " + api::Quote(StringAt(*map, "name")), FilesOf(ListAt(*map, "items"), ""), shown,
                 out);
  }
  if (const Json* secret = Find(volume, "secret")) {
    WarnOverlaps(name, "Secret " + api::Quote(StringAt(*secret, "secretName")), FilesOf(ListAt(*secret, "items"), ""),
                 shown, out);
  }
  if (const Json* downward = Find(volume, "downwardAPI")) {
    WarnOverlaps(name, "DownwardAPI", FilesOf(ListAt(*downward, "items"), ""), shown, out);
  }
  for (const Json& source : ListAt(volume, "projected", "sources")) {
    if (source.empty()) {
      out.push_back("volume " + api::Quote(name) + " (Projected) has no sources provided");
    } else {
      WarnOverlaps(name, "Projected", ProjectedFiles(source), shown, out);
    }
  }
}

void WarnClaim(const Json& spec, const Path& path, Warnings& out) {
  for (const char* list : {"requests", "limits"}) {
    const Json* text = Find(spec, "resources", list, "storage");
    if (text == nullptr) continue;
    const api::Quantity amount = QuantityOf(*text);
    if (amount.MilliValue() % 1000 == 0) continue;
    AddWarning(out, path.Child("resources", list).Key("storage"),
               {"fractional byte value ", api::Quote(amount.ToString()), " is invalid, must be an integer"});
  }
}

template <std::size_t N>
void WarnOldSources(const Json& volume, const std::array<OldSource, N>& sources, const Path& path, Warnings& out) {
  for (const OldSource& source : sources) {
    if (Find(volume, source.field) != nullptr) AddWarning(out, path.Child(source.path), {source.message});
  }
}

}  // namespace

void WarnVolumes(const Json& spec, const Path& spec_path, Warnings& out) {
  const Json& volumes = ListAt(spec, "volumes");
  for (std::size_t i = 0; i < volumes.size(); ++i) {
    const Path here = spec_path.Child("volumes").Index(i);
    WarnOldSources(volumes[i], kOldSources, here, out);
    if (const Json* claim = Find(volumes[i], "ephemeral", "volumeClaimTemplate", "spec")) {
      WarnClaim(*claim, here.Child("ephemeral", "volumeClaimTemplate").Child("spec"), out);
    }
    WarnOldSources(volumes[i], kNewlyOldSources, here, out);
  }
  for (const Json& volume : volumes) WarnOverlappingFiles(volume, out);
}

}  // namespace terrarium::apiserver
