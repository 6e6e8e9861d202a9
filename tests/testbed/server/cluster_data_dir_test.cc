#include "testbed/server/cluster_data_dir.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace terrarium::testbed {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class ClusterDataDirTest : public ::testing::Test {
 protected:
  ClusterDataDirTest() {
    std::string pattern = (fs::temp_directory_path() / "data-dir-XXXXXX").string();
    top_ = fs::canonical(mkdtemp(pattern.data()));
    fs::create_directories(top_ / "data" / "sub");
    fs::create_directory(top_ / "outside");
  }
  ~ClusterDataDirTest() override { fs::remove_all(top_); }

  ClusterDataDir Open() {
    auto opened = ClusterDataDir::Open((top_ / "data").string());
    EXPECT_TRUE(opened.ok());
    return *opened;
  }
  std::string Refused(const std::string& name) {
    auto resolved = Open().Resolve(name);
    EXPECT_FALSE(resolved.ok()) << name;
    if (resolved.ok()) return "";
    EXPECT_EQ(resolved.status().code, 400);
    return resolved.status().message;
  }

  fs::path top_;
};

TEST_F(ClusterDataDirTest, WithoutAFolderEveryNameIsRefused) {
  auto resolved = ClusterDataDir().Resolve("a.db");
  ASSERT_FALSE(resolved.ok());
  EXPECT_THAT(resolved.status().message, HasSubstr("without --cluster-data-dir"));
}

TEST_F(ClusterDataDirTest, NamesAreResolvedBelowTheFolder) {
  EXPECT_EQ(*Open().Resolve("a.db"), (top_ / "data" / "a.db").string());
  EXPECT_EQ(*Open().Resolve("sub/a.db"), (top_ / "data" / "sub" / "a.db").string());
  EXPECT_EQ(*Open().Resolve("file:a.db"), (top_ / "data" / "file:a.db").string());
  EXPECT_EQ(*Open().Resolve("..a"), (top_ / "data" / "..a").string());
}

TEST_F(ClusterDataDirTest, ASymbolicLinkToTheFolderItselfIsTheOperatorsChoice) {
  fs::create_symlink(top_ / "data", top_ / "link");
  auto opened = ClusterDataDir::Open((top_ / "link").string());
  ASSERT_TRUE(opened.ok());
  EXPECT_EQ(*opened->Resolve("a.db"), (top_ / "data" / "a.db").string());
}

TEST_F(ClusterDataDirTest, NoNameLeavesTheFolder) {
  for (const char* name : {"/etc/passwd", "../outside/a.db", "sub/../../outside/a.db", "..", ".", "sub/..",
                           "sub//a.db", "sub/", "./a.db", ""})
    Refused(name);
  EXPECT_THAT(Refused(std::string("a\0.db", 5)), HasSubstr("NUL"));
}

TEST_F(ClusterDataDirTest, SymbolicLinksAreRefused) {
  fs::create_symlink(top_ / "outside", top_ / "data" / "folder");
  fs::create_symlink(top_ / "outside" / "a.db", top_ / "data" / "dangling.db");
  std::ofstream(top_ / "data" / "real.db") << "x";
  fs::create_symlink("real.db", top_ / "data" / "inside.db");
  for (const char* name : {"folder/a.db", "dangling.db", "inside.db"})
    EXPECT_THAT(Refused(name), HasSubstr("symbolic link")) << name;
}

TEST_F(ClusterDataDirTest, OnlyRegularFilesAreUsed) {
  EXPECT_THAT(Refused("sub"), HasSubstr("not a regular file"));
  std::ofstream(top_ / "data" / "file") << "x";
  EXPECT_THAT(Refused("file/a.db"), HasSubstr("not a folder"));
  EXPECT_THAT(Refused("missing/a.db"), HasSubstr("No such file"));
  for (const char* name : {"a.db-wal", "a.db-shm", "a.db-journal"})
    EXPECT_THAT(Refused(name), HasSubstr("SQLite"));
}

TEST_F(ClusterDataDirTest, TheFolderMustBeOne) {
  EXPECT_FALSE(ClusterDataDir::Open((top_ / "missing").string()).ok());
  std::ofstream(top_ / "file") << "x";
  EXPECT_FALSE(ClusterDataDir::Open((top_ / "file").string()).ok());
}

}  // namespace
}  // namespace terrarium::testbed
