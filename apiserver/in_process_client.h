#pragma once

#include <memory>

#include "api/base/env.h"
#include "api/client.h"
#include "apiserver/request.h"

namespace terrarium::storage {
class Store;
}

namespace terrarium::apiserver {

class Handler;

// A component's client in the process of the apiserver. Writes go through the handler; lists and watches
// share the objects of the store. Responses and wake-ups run on the lane of `env`. The control plane is not
// idle while a response is pending. `handler` and `store` outlive the client and all its pending requests.
std::unique_ptr<api::Client> MakeInProcessClient(const api::Env& env, Handler& handler, storage::Store& store,
                                                 Sender sender);

}  // namespace terrarium::apiserver
