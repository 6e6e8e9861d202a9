#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "apiserver/validation/internal/pod_rules.h"
#include "apiserver/validation/internal/pod_warnings.h"

namespace terrarium::apiserver {

using namespace pod_rules;  // NOLINT: the helpers of this folder

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

// The files that a volume shows, each path and source once, in the order in which they came.
class ShownFiles {
 public:
  // Names each pair of the file and one shown before of which one hides the other: they have the same path,
  // or one lies below the other. A pair that was named is not named again.
  void NameOverlaps(const File& file, const std::string& what, Warnings& out) {
    if (file.path.empty()) return;
    std::vector<std::size_t> others;
    // A path can be as long as the body, so folders above it are looked up by a hash that goes along with it.
    std::uint64_t hash = kHashOfNothing;
    for (std::size_t i = 0; i < file.path.size(); ++i) {
      if (file.path[i] == '/' && hashes_.contains(hash)) AddAt(file.path.substr(0, i), others);
      hash = Hash(file.path[i], hash);
    }
    AddAt(file.path, others);
    const std::string below = file.path + "/";
    for (auto it = by_path_.lower_bound(below); it != by_path_.end() && it->first.starts_with(below); ++it)
      for (const auto& [source, number] : it->second) others.push_back(number);
    std::sort(others.begin(), others.end());
    for (std::size_t other : others) {
      if (out.full()) return;
      if (named_.insert({Number(file), other}).second)
        out.Add(what + ": overlapping paths: " + file.String() + " with " + files_[other].String());
    }
  }
  void Add(const File& file) {
    if (Number(file) < files_.size()) return;
    by_path_[file.path].emplace(file.source, files_.size());
    std::uint64_t hash = kHashOfNothing;
    for (char c : file.path) hash = Hash(c, hash);
    hashes_.insert(hash);
    files_.push_back(file);
  }

 private:
  static constexpr std::uint64_t kHashOfNothing = 14695981039346656037u;  // FNV-1a
  static std::uint64_t Hash(char c, std::uint64_t so_far) {
    return (so_far ^ static_cast<unsigned char>(c)) * 1099511628211u;
  }

  // That of the next file, when it is not here.
  std::size_t Number(const File& file) const {
    auto path = by_path_.find(file.path);
    if (path == by_path_.end()) return files_.size();
    auto source = path->second.find(file.source);
    return source == path->second.end() ? files_.size() : source->second;
  }
  void AddAt(const std::string& path, std::vector<std::size_t>& out) const {
    auto it = by_path_.find(path);
    if (it == by_path_.end()) return;
    for (const auto& [source, number] : it->second) out.push_back(number);
  }

  std::vector<File> files_;
  std::map<std::string, std::map<std::string, std::size_t>>
      by_path_;                     // the number of a file by path and source
  std::set<std::uint64_t> hashes_;  // of the paths
  std::set<std::pair<std::size_t, std::size_t>> named_;
};

void WarnOverlaps(std::string_view volume, const std::string& description, std::vector<File> files,
                  ShownFiles& shown, Warnings& out) {
  const std::string what = "volume " + api::Quote(volume) + " (" + description + ")";
  for (File& file : files) {
    if (out.full()) return;
    while (file.path.ends_with("/")) file.path.pop_back();
    shown.NameOverlaps(file, what, out);
    shown.Add(file);
  }
}

std::vector<File> ProjectedFiles(const Json& source) {
  if (const Json* map = Find(source, "configMap"); map != nullptr && Find(*map, "items") != nullptr) {
    return FilesOf(ListAt(*map, "items"), "ConfigMap " + api::Quote(StringAt(*map, "name")));
  }
  if (const Json* secret = Find(source, "secret"); secret != nullptr && Find(*secret, "items") != nullptr) {
    return FilesOf(ListAt(*secret, "items"), "Secret " + api::Quote(StringAt(*secret, "name")));
  }
  if (const Json* downward = Find(source, "downwardAPI");
      downward != nullptr && Find(*downward, "items") != nullptr) {
    return FilesOf(ListAt(*downward, "items"), "DownwardAPI");
  }
  if (const Json* token = Find(source, "serviceAccountToken")) {
    return {{std::string(StringAt(*token, "path")), "ServiceAccountToken"}};
  }
  return {};
}

void WarnOverlappingFiles(const Json& volume, Warnings& out) {
  const std::string_view name = StringAt(volume, "name");
  ShownFiles shown;
  if (const Json* map = Find(volume, "configMap")) {
    WarnOverlaps(name, "ConfigMap " + api::Quote(StringAt(*map, "name")), FilesOf(ListAt(*map, "items"), ""),
                 shown, out);
  }
  if (const Json* secret = Find(volume, "secret")) {
    WarnOverlaps(name, "Secret " + api::Quote(StringAt(*secret, "secretName")),
                 FilesOf(ListAt(*secret, "items"), ""), shown, out);
  }
  if (const Json* downward = Find(volume, "downwardAPI")) {
    WarnOverlaps(name, "DownwardAPI", FilesOf(ListAt(*downward, "items"), ""), shown, out);
  }
  for (const Json& source : ListAt(volume, "projected", "sources")) {
    if (source.empty()) {
      out.Add("volume " + api::Quote(name) + " (Projected) has no sources provided");
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
void WarnOldSources(const Json& volume, const std::array<OldSource, N>& sources, const Path& path,
                    Warnings& out) {
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
