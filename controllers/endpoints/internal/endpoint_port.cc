#include "controllers/endpoints/internal/endpoint_port.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "api/json_access.h"

namespace terrarium::controllers::endpoints {
namespace {

using api::Json;

__extension__ typedef unsigned __int128 Hash;

Hash Fnv1a(std::string_view bytes) {
  constexpr Hash kPrime = (static_cast<Hash>(0x1000000) << 64) | 0x13b;
  Hash hash = (static_cast<Hash>(0x6c62272e07bb0142) << 64) | 0x62b821756295c58d;
  for (const char byte : bytes) {
    hash ^= static_cast<unsigned char>(byte);
    hash *= kPrime;
  }
  return hash;
}

std::string AppProtocolDump(const EndpointPort& port) {
  return " AppProtocol:(*string)" + port.app_protocol.value_or("<nil>") + "}";
}

// The dumps of discovery/v1 and core/v1 EndpointPort.
std::string SliceDump(const EndpointPort& port) {
  return "(v1.EndpointPort){Name:(*string)" + port.name + " Protocol:(*v1.Protocol)" + port.protocol +
         " Port:(*int32)" + (port.port ? std::to_string(*port.port) : "<nil>") + AppProtocolDump(port);
}
std::string SubsetDump(const EndpointPort& port) {
  return "(v1.EndpointPort){Name:(string)" + port.name + " Port:(int32)" +
         std::to_string(port.port.value_or(0)) + " Protocol:(v1.Protocol)" + port.protocol +
         AppProtocolDump(port);
}

template <typename Dump>
void SortByHash(Ports& ports, Dump dump) {
  if (ports.size() < 2) return;
  std::vector<std::pair<Hash, EndpointPort>> hashed;
  for (EndpointPort& port : ports) {
    const Hash hash = Fnv1a(dump(port));
    hashed.emplace_back(hash, std::move(port));
  }
  std::sort(hashed.begin(), hashed.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : a.second < b.second;
  });
  for (std::size_t i = 0; i < ports.size(); ++i) ports[i] = std::move(hashed[i].second);
}

}  // namespace

Ports ReadPorts(const Json& list) {
  Ports ports;
  for (const Json& item : list) {
    EndpointPort port{.name = std::string(api::StringAt(item, "name")),
                      .protocol = std::string(api::StringAt(item, "protocol")),
                      .port = {},
                      .app_protocol = {}};
    if (const Json* number = api::Find(item, "port")) port.port = number->get<std::int64_t>();
    if (const Json* app = api::Find(item, "appProtocol")) port.app_protocol = app->get<std::string>();
    ports.push_back(std::move(port));
  }
  return ports;
}

Json ToJson(const Ports& ports) {
  Json list = Json::array();
  for (const EndpointPort& port : ports) {
    Json item = {{"name", port.name}, {"protocol", port.protocol}};
    if (port.port) item["port"] = *port.port;
    if (port.app_protocol) item["appProtocol"] = *port.app_protocol;
    list.push_back(std::move(item));
  }
  return list;
}

void SortForSlice(Ports& ports) { SortByHash(ports, SliceDump); }
void SortForSubset(Ports& ports) { SortByHash(ports, SubsetDump); }

}  // namespace terrarium::controllers::endpoints
