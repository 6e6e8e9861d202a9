#include "controllers/deployment/internal/selection.h"

namespace terrarium::controllers::deployment {
namespace {

std::string LabelPlace(const std::string& ns, const std::string& key, const std::string& value) {
  return ns + " " + key + "=" + value;
}

}  // namespace

std::string SelectorPlace(const std::string& ns, const api::LabelSelector& selector) {
  for (const api::LabelRequirement& requirement : selector.requirements()) {
    const bool one_of = requirement.op == api::LabelOperator::kEquals ||
                        requirement.op == api::LabelOperator::kDoubleEquals ||
                        requirement.op == api::LabelOperator::kIn;
    if (one_of && requirement.values.size() == 1)
      return LabelPlace(ns, requirement.key, requirement.values[0]);
  }
  return ns;
}

std::vector<std::string> LabelPlaces(const api::ObjectHeader& header) {
  std::vector<std::string> places = {header.ns};
  for (const auto& [key, value] : header.labels) places.push_back(LabelPlace(header.ns, key, value));
  return places;
}

}  // namespace terrarium::controllers::deployment
