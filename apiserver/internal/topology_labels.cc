#include "apiserver/internal/topology_labels.h"

#include <string>

namespace terrarium::apiserver {

void CopyTopologyLabels(const Server& server, std::string_view node, Json& metadata) {
  api::ObjectPtr object = server.store.Get({"nodes", "", std::string(node)});
  if (object == nullptr) return;
  for (const auto& [key, value] : object->header().labels)
    if (key == "topology.kubernetes.io/zone" || key == "topology.kubernetes.io/region")
      metadata["labels"][key] = value;
}

}  // namespace terrarium::apiserver
