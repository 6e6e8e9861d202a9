#include "testbed/control_plane/state_metrics/state_metrics.h"

#include <vector>

#include "storage/store.h"
#include "testbed/control_plane/state_metrics/internal/family.h"

namespace terrarium::testbed {
namespace {

using state_metrics::Family;
using state_metrics::KindFamilies;
using state_metrics::Samples;

// Each object is parsed once for all families of its kind, while the page goes by family: so each has its own
// text.
void AppendKind(const KindFamilies& kind, const std::vector<api::ObjectPtr>& objects, std::string& out) {
  if (objects.empty()) return;
  std::vector<std::string> texts(kind.families.size());
  for (const api::ObjectPtr& object : objects) {
    // Not Document(): a scrape reads every object, and would evict the documents that others read again.
    const api::Json document = object->Parse();
    for (std::size_t i = 0; i < kind.families.size(); ++i) {
      const Family& family = kind.families[i];
      Samples samples(family.name, kind.label, object->header(), texts[i]);
      family.read(family, document, samples);
    }
  }
  for (std::size_t i = 0; i < kind.families.size(); ++i) {
    const Family& family = kind.families[i];
    out.append("# HELP ").append(family.name).append(" ").append(family.help).append("\n");
    out.append("# TYPE ").append(family.name).append(" gauge\n").append(texts[i]);
  }
}

}  // namespace

std::string StateMetricsText(const storage::Store& store) {
  std::string out;
  for (const KindFamilies& kind : state_metrics::WorkloadKinds()) {
    storage::ListQuery query;
    query.resource = kind.resource;
    auto listing = store.List(query);
    if (listing) AppendKind(kind, listing->items, out);
  }
  return out;
}

}  // namespace terrarium::testbed
