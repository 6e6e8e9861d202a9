#pragma once

// The addresses and ports that the API server allocates for a Service.
//
// DIVERGES: Kubernetes keeps allocators over all Services; a strategy sees only one object. A hash of the
// Service's uid chooses the address and the ports, so they are the same in every run with the same seed:
// cluster IPs from 10.96.0.0/12, node ports from 30000-32767. Two Services may get the same address or port
// (of 100 Services, two share an address in about 1 of 200 clusters). That is harmless, because nothing here
// routes traffic. An allocator that sees the store can replace these functions.

#include "api/base/field_error.h"
#include "api/json.h"
#include "apiserver/strategy.h"

namespace terrarium::apiserver::strategy {

// Sets the clusterIP(s), ipFamilies, ipFamilyPolicy and node ports that the client left unset on a new
// Service. Leaves values that cannot be satisfied for ServiceAllocationErrors to report.
void AllocateService(Json& service);
// The same for an update. A field that the client left unset keeps its old value. A field that the new type
// does not use is removed if the client left it unchanged.
void ReallocateService(Json& service, const Json& old);

// Errors for addresses and node ports that cannot be allocated. If there are any, Kubernetes reports only
// these and skips the other checks. `old` may be null.
FieldErrors ServiceAllocationErrors(const Json& service, const Json* old);

// Checks that clusterIP, clusterIPs, ipFamilies and ipFamilyPolicy are consistent. `old` may be null.
FieldErrors ValidateClusterIps(const Json& service, const Json* old);

bool IsHeadless(const Json& service);
bool NeedsNodePorts(const Json& service);
bool NeedsHealthCheckPort(const Json& service);
// A NodePort or LoadBalancer Service, or a ClusterIP Service with external IPs.
bool IsExternallyAccessible(const Json& service);

}  // namespace terrarium::apiserver::strategy
