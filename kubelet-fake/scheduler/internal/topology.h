#pragma once

// Pods counted by topology domain, so that a decision looks up numbers instead of visiting pods. A domain is
// the set of nodes that have the same value of a label (topologyKey): a host, a zone, a rack.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "api/object.h"
#include "kubelet-fake/scheduler/internal/pod_terms.h"

namespace terrarium::kubelet_fake::scheduling {

// Numbers the topology keys and the domains of each key. Domain 0 means that a node lacks the label.
class TopologyKeys {
 public:
  // The number of the key, counted from 0. A new key gets the next number.
  std::size_t NumberOf(const std::string& key);
  std::size_t size() const { return keys_.size(); }
  // The domains of a node, indexed by the key's number.
  std::vector<std::size_t> DomainsOf(const api::ObjectHeader& node);

 private:
  struct Key {
    std::string name;
    std::map<std::string, std::size_t> domains;
  };
  std::vector<Key> keys_;
};

class DomainCounts {
 public:
  // Nodes without a domain do not count.
  void Add(std::size_t domain, std::int64_t change) {
    if (domain == 0) return;
    if (domain >= counts_.size()) counts_.resize(domain + 1);
    counts_[domain] += change;
    total_ += change;
  }
  std::int64_t At(std::size_t domain) const { return domain < counts_.size() ? counts_[domain] : 0; }
  std::size_t size() const { return counts_.size(); }  // larger than the number of any domain in it
  std::int64_t total() const { return total_; }
  void Clear() {
    counts_.clear();
    total_ = 0;
  }

 private:
  std::vector<std::int64_t> counts_;
  std::int64_t total_ = 0;
};

// All required affinity terms of a class of pods, or one term of any kind, with counts of the placed pods
// that match.
struct TermGroup {
  std::vector<PodTerm> terms;
  std::vector<std::size_t> keys;       // the terms' topology keys
  std::vector<DomainCounts> matching;  // for each term's key: pods that match every term
  // By the key of its only term: the pods that have it as required anti-affinity, and how much the pods that
  // have it as affinity, or prefer it, want pods near them that match.
  DomainCounts carriers;
  DomainCounts weights;
  std::int64_t weighing = 0;  // the pods that count in `weights`, which may add up to 0
  bool stale = true;          // the counts must be computed again before use
};

}  // namespace terrarium::kubelet_fake::scheduling
