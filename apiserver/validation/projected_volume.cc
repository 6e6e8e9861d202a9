// Projected volumes: several sources in one directory, whose paths must not collide. Sources of features that
// are off in this release (clusterTrustBundle, podCertificate) never get here: DefaultPodSpec drops them.

#include "apiserver/validation/internal/pod_rules.h"

namespace terrarium::apiserver::pod_rules {
namespace {

using Paths = std::set<std::string, std::less<>>;

// `value` is what Kubernetes names in the error: the secret or config map, or the path itself.
void CheckUnique(std::string_view file, std::string_view value, Paths& seen, const Path& path,
                 FieldErrors& errors) {
  if (file.empty() || seen.emplace(file).second) return;
  errors.push_back(api::InvalidError(path, value, "conflicting duplicate paths"));
}

void CheckKeys(const Json& source, Paths& seen, const Path& source_path, const Path& path,
               FieldErrors& errors) {
  RequireText(source, "name", source_path, errors);
  const Json& items = ListAt(source, "items");
  for (std::size_t i = 0; i < items.size(); ++i) {
    CheckKeyToPath(items[i], source_path.Child("items").Index(i), errors);
    CheckUnique(StringAt(items[i], "path"), StringAt(source, "name"), seen, path, errors);
  }
}

void CheckDownward(const Json& source, Paths& seen, const Path& source_path, const Path& path,
                   FieldErrors& errors) {
  for (const Json& file : ListAt(source, "items")) {
    CheckDownwardFile(file, source_path, errors);
    CheckUnique(StringAt(file, "path"), StringAt(file, "path"), seen, path, errors);
  }
}

void CheckToken(const Json& source, const Path& source_path, const Path& path, FieldErrors& errors) {
  const std::int64_t seconds = IntAt(source, 0, "expirationSeconds");
  if (seconds < 600) {
    errors.push_back(api::InvalidError(source_path.Child("expirationSeconds"), seconds,
                                       "may not specify a duration less than 10 minutes"));
  }
  if (seconds > (std::int64_t{1} << 32)) {
    errors.push_back(api::InvalidError(source_path.Child("expirationSeconds"), seconds,
                                       "may not specify a duration larger than 2^32 seconds"));
  }
  if (RequireText(source, "path", path, errors)) {
    CheckLocalNonReservedPath(StringAt(source, "path"), path.Child("path"), errors);
  }
}

}  // namespace

void CheckProjectedVolume(const Json& projected, const Path& path, FieldErrors& errors) {
  CheckFileMode(projected, "defaultMode", path, errors);
  Paths seen;
  const Json& sources = ListAt(projected, "sources");
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const Path here = path.Child("sources").Index(i);
    int count = 0;
    for (const char* field : {"secret", "configMap"}) {
      const Json* source = Find(sources[i], field);
      if (source == nullptr) continue;
      ++count;
      CheckKeys(*source, seen, here.Child(field), path, errors);
    }
    if (const Json* source = Find(sources[i], "downwardAPI")) {
      ++count;
      CheckDownward(*source, seen, here.Child("downwardAPI"), path, errors);
    }
    if (const Json* source = Find(sources[i], "serviceAccountToken")) {
      ++count;
      CheckToken(*source, here.Child("serviceAccountToken"), path, errors);
    }
    if (count > 1)
      errors.push_back(api::ForbiddenError(here, "may not specify more than 1 volume type per source"));
  }
}

}  // namespace terrarium::apiserver::pod_rules
