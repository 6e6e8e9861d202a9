#include "controllers/endpoints/internal/endpoint_port.h"

#include <gtest/gtest.h>

namespace terrarium::controllers::endpoints {
namespace {

const EndpointPort kHttp{"http", "TCP", 8080, {}};
const EndpointPort kPlain{"", "UDP", 443, "h2c"};

// The order of Kubernetes 1.36 for the same ports.
TEST(EndpointPort, PortsHaveKubernetesOrder) {
  Ports ports = {kPlain, kHttp};
  SortForSlice(ports);
  EXPECT_EQ(ports, (Ports{kHttp, kPlain}));
  ports = {kPlain, kHttp};
  SortForSubset(ports);
  EXPECT_EQ(ports, (Ports{kHttp, kPlain}));
}

TEST(EndpointPort, IsReadAsItIsWritten) {
  const Ports ports = {kHttp, kPlain, {"any", "SCTP", std::nullopt, {}}};
  EXPECT_EQ(ReadPorts(ToJson(ports)), ports);
}

}  // namespace
}  // namespace terrarium::controllers::endpoints
