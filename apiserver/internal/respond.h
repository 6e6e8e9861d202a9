#pragma once

// The kinds of responses to a call.

#include <span>
#include <vector>

#include "api/base/status.h"
#include "apiserver/internal/call.h"
#include "apiserver/internal/encode.h"

namespace terrarium::apiserver {

// Sends the response to a call, with its warnings. Every response passes through here, once.
void Answer(const CallPtr& call, Response response);

void RespondObject(const CallPtr& call, int code, const api::ObjectPtr& object);
void RespondList(const CallPtr& call, std::span<const api::ObjectPtr> items, const ListMeta& meta);
// A document that is not stored; it carries its kind and apiVersion.
void RespondDocument(const CallPtr& call, int code, const Json& document, const api::Message& schema);
// A list of documents that are not stored, without kind and apiVersion.
void RespondDocuments(const CallPtr& call, std::vector<Json> items);
void RespondError(const CallPtr& call, const api::Status& status);
// metav1.Status "Success"; `details` may be null.
void RespondSuccess(const CallPtr& call, int code, const Json& details);

// An error before a call exists.
Response ErrorResponse(const Negotiated& output, const api::Status& status);

}  // namespace terrarium::apiserver
