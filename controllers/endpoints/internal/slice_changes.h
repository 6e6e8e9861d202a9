#pragma once

// What a write changes in a slice, in words and numbers for why records. Pure.

#include <string>

#include "api/json.h"
#include "controllers/endpoints/internal/slice.h"

namespace terrarium::controllers::endpoints {

struct SliceChange {
  std::string rule;
  api::Json saw;
};
SliceChange DescribeChange(const SliceDraft& draft);

}  // namespace terrarium::controllers::endpoints
