#pragma once

// The addresses and ports that the API server itself gives to a Service.
//
// DIVERGES: Kubernetes keeps allocators over all Services; a strategy sees one object only. Addresses and
// ports are drawn here from a hash of the Service's uid, so that they are the same in every run with the same
// seed: cluster IPs from 10.96.0.0/12, node ports from 30000-32767. Two Services may in principle get the
// same one (of 100 Services, one address is shared about once in 200 clusters); nothing here routes traffic,
// so nobody is hurt. An allocator that sees the store can take the place of these functions.

#include "api/base/field_error.h"
#include "api/json.h"
#include "apiserver/strategy.h"

namespace terrarium::apiserver::strategy {

// clusterIP(s), ipFamilies, ipFamilyPolicy and node ports of a new Service, where the client left them open.
// What cannot be satisfied is left as it is for ServiceAllocationErrors.
void AllocateService(Json& service);
// The same for an update: what the old Service had is kept where the client left it out, and what its new
// type has no use for is dropped where the client left it unchanged.
void ReallocateService(Json& service, const Json& old);

// Addresses that cannot be given. Kubernetes reports these alone, before it looks at the rest. `old` may be
// null.
FieldErrors ServiceAllocationErrors(const Json& service, const Json* old);

// clusterIP, clusterIPs, ipFamilies and ipFamilyPolicy fit together. `old` may be null.
FieldErrors ValidateClusterIps(const Json& service, const Json* old);

bool IsHeadless(const Json& service);
bool NeedsNodePorts(const Json& service);
bool NeedsHealthCheckPort(const Json& service);
// Reachable from outside: a NodePort or LoadBalancer, or one with external IPs.
bool IsExternallyAccessible(const Json& service);

}  // namespace terrarium::apiserver::strategy
