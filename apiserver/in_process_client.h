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

// A component's client in the apiserver's own process: writes go through the handler, lists and watches share the store's
// objects. Answers and wake-ups come on the lane of `env`. While an answer is on its way the plane is not idle.
// `handler` and `store` outlive the client and everything that waits for it.
std::unique_ptr<api::Client> MakeInProcessClient(const api::Env& env, Handler& handler, storage::Store& store,
                                                 UserInfo user);

}  // namespace terrarium::apiserver
