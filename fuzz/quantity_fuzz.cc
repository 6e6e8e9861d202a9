// Quantities: 1500m, 1Gi, 12e6.

#include <optional>
#include <string>

#include "api/base/quantity.h"
#include "fuzz/property.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace terrarium;
  std::string error;
  const std::optional<api::Quantity> quantity = api::Quantity::Parse(fuzz::Input(data, size).text(), &error);
  if (!quantity) {
    fuzz::Require(!error.empty(), "an error has words");
    return 0;
  }
  const std::string canonical = quantity->ToString();
  const std::optional<api::Quantity> again = api::Quantity::Parse(canonical, &error);
  fuzz::Require(again.has_value(), "a canonical quantity can be read");
  fuzz::Require(*again == *quantity, "the canonical form has the same value");
  // The first text of a binary quantity may have no suffix and is then read as a decimal one, as in
  // Kubernetes: 1000.9765625Ki is 1025000, which is 1025k.
  const std::string settled = again->ToString();
  const std::optional<api::Quantity> third = api::Quantity::Parse(settled, &error);
  fuzz::Require(third && third->ToString() == settled,
                "the canonical form of a canonical form is a fixed point");
  api::Quantity sum = *quantity;
  sum.Add(*quantity);
  sum.Sub(*quantity);
  fuzz::Require(quantity->Value() == again->Value(), "the canonical form has the same whole value");
  return 0;
}
