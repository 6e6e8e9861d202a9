#pragma once

// The query and path parameters of each kind of operation.

#include <string_view>
#include <vector>

#include "apiserver/openapi/internal/operations.h"

namespace terrarium::apiserver::openapi {

std::vector<Parameter> ReadParameters();
std::vector<Parameter> ListParameters();
std::vector<Parameter> WriteParameters();  // create and update
std::vector<Parameter> PatchParameters();
std::vector<Parameter> DeleteParameters();
std::vector<Parameter> DeleteCollectionParameters();
std::vector<Parameter> LogParameters();
std::vector<Parameter> ConnectParameters(std::string_view subresource);  // exec, attach, portforward

Parameter NamespaceParameter();
Parameter NameParameter();

}  // namespace terrarium::apiserver::openapi
