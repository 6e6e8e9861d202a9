#pragma once

// The tests of the guarantees in storage/store.h, run against every store in every mode. A new store is one
// line in AllStores().

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "storage/history_limits.h"
#include "storage/store.h"
#include "tests/storage/store_testing.h"

namespace terrarium::storage::testing {

struct StoreKind {
  std::string name;
  // `file` is a path that the store may create or open.
  std::function<std::unique_ptr<Store>(const std::string& file, const HistoryLimits& history)> open;
  bool persistent;
};

std::vector<StoreKind> AllStores();

class StoreTest : public ::testing::TestWithParam<StoreKind> {
 protected:
  StoreTest() { Open({}); }
  void Open(const HistoryLimits& history) {
    store_.reset();
    store_ = GetParam().open(dir_.File("store" + std::to_string(++opened_) + ".db"), history);
    base_ = store_->CurrentRevision();
  }
  Listing MustList(const ListQuery& query) {
    api::Result<Listing> listing = store_->List(query);
    EXPECT_TRUE(listing.ok());
    return listing ? std::move(*listing) : Listing{};
  }
  std::unique_ptr<Watch> MustWatch(const WatchQuery& query) {
    api::Result<std::unique_ptr<Watch>> watch = store_->StartWatch(query);
    EXPECT_TRUE(watch.ok());
    return watch ? std::move(*watch) : nullptr;
  }
  ObjectPtr Create(const std::string& ns, const std::string& name, int value = 0) {
    return Must(*store_, CreateWrite(ns, name, value));
  }
  ObjectPtr Update(const ObjectPtr& current, int value) { return Must(*store_, UpdateWrite(current, value)); }
  ObjectPtr Delete(const ObjectPtr& current) { return Must(*store_, DeleteWrite(current)); }

  TempDir dir_;
  int opened_ = 0;
  std::unique_ptr<Store> store_;
  std::int64_t base_ = 0;  // the revision before the first write of the test
};

inline std::string StoreName(const ::testing::TestParamInfo<StoreKind>& info) { return info.param.name; }

}  // namespace terrarium::storage::testing

// Every file of the suite begins with this.
#define TERRARIUM_STORE_SUITE(Suite) \
  class Suite : public StoreTest {}; \
  INSTANTIATE_TEST_SUITE_P(AllStores, Suite, ::testing::ValuesIn(AllStores()), StoreName)
