#pragma once

// The text of the shapes.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "tests/hostile/shapes.h"

namespace terrarium::hostile {

using Item = std::function<std::string(std::uint32_t number)>;

// Items 0, 1, 2... with the separator between them, about `bytes` long in total.
std::string Repeat(std::size_t bytes, const Item& item, std::string_view separator = ",");
// The same text repeated.
std::string Repeat(std::size_t bytes, std::string_view text, std::string_view separator = ",");

// A different text for each number, in no order.
std::string Shuffled(std::uint32_t number);
// "name":value with a shuffled name.
std::string Member(std::uint32_t number, std::string_view value);

inline constexpr std::string_view kConfigMaps = "/api/v1/namespaces/default/configmaps";
inline constexpr std::string_view kPods = "/api/v1/namespaces/default/pods";
inline constexpr std::string_view kDeployments = "/apis/apps/v1/namespaces/default/deployments";

apiserver::Request Post(std::string_view path, std::string body,
                        std::string_view field_validation = "Strict");
apiserver::Request Put(std::string_view path, std::string body);
apiserver::Request Patch(std::string_view path, std::string_view type, std::string body);

// Objects with `more` in their metadata, at their top level, and so on. `more` begins with a comma or is
// empty.
std::string ConfigMap(std::string_view metadata_more, std::string_view more);
std::string Pod(std::string_view spec_more, std::string_view container_more);
std::string Deployment(std::string_view metadata_more, std::string_view spec_more, std::string_view pod_spec);

// A shape of one POST.
Shape Posted(std::string name, int code, std::string_view path,
             std::function<std::string(std::size_t bytes)> body);

}  // namespace terrarium::hostile
