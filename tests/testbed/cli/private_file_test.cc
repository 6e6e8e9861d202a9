#include "testbed/cli/private_file.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace terrarium::testbed {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class PrivateFileTest : public ::testing::Test {
 protected:
  PrivateFileTest() {
    std::string pattern = (fs::temp_directory_path() / "private-file-XXXXXX").string();
    top_ = fs::canonical(mkdtemp(pattern.data()));
  }
  ~PrivateFileTest() override { fs::remove_all(top_); }

  static std::string Read(const fs::path& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static unsigned ModeOf(const fs::path& path) {
    struct stat found {};
    return lstat(path.c_str(), &found) == 0 ? found.st_mode & 0777u : 0;
  }
  std::size_t Entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(top_), fs::directory_iterator()));
  }

  fs::path top_;
};

TEST_F(PrivateFileTest, IsTheOwnersAlone) {
  const mode_t before = umask(0);
  ASSERT_TRUE(WritePrivateFile(top_ / "kubeconfig", "secret").ok());
  umask(before);
  EXPECT_EQ(Read(top_ / "kubeconfig"), "secret");
  EXPECT_EQ(ModeOf(top_ / "kubeconfig"), 0600u);
  EXPECT_EQ(Entries(), 1u) << "something is left over";
}

// Another user who knows the name of the temporary file creates a link or a readable file there.
TEST_F(PrivateFileTest, NothingPreparedBesideItIsUsed) {
  std::ofstream(top_ / "victim") << "precious";
  fs::create_symlink(top_ / "victim", top_ / "kubeconfig.tmp");
  ASSERT_TRUE(WritePrivateFile(top_ / "kubeconfig", "secret").ok());
  EXPECT_EQ(Read(top_ / "victim"), "precious");
  EXPECT_EQ(Read(top_ / "kubeconfig"), "secret");
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(top_ / "kubeconfig")));
}

TEST_F(PrivateFileTest, AFileOrLinkInItsPlaceIsReplacedNotWrittenThrough) {
  std::ofstream(top_ / "victim") << "precious";
  fs::create_symlink(top_ / "victim", top_ / "link");
  std::ofstream(top_ / "wide") << "old";
  fs::permissions(top_ / "wide", fs::perms(0666));
  for (const char* name : {"link", "wide"}) {
    ASSERT_TRUE(WritePrivateFile(top_ / name, "secret").ok());
    EXPECT_EQ(Read(top_ / name), "secret");
    EXPECT_EQ(ModeOf(top_ / name), 0600u);
  }
  EXPECT_EQ(Read(top_ / "victim"), "precious");
}

TEST_F(PrivateFileTest, DevicesAndFoldersAreLeftAlone) {
  fs::create_symlink("/dev/null", top_ / "device");
  fs::create_directory(top_ / "folder");
  for (const char* name : {"device", "folder"}) {
    auto written = WritePrivateFile(top_ / name, "text");
    ASSERT_FALSE(written.ok());
    EXPECT_THAT(written.status().message, HasSubstr("not a regular file"));
  }
  EXPECT_TRUE(fs::is_symlink(top_ / "device"));
  EXPECT_FALSE(WritePrivateFile(top_ / "missing" / "file", "text").ok());
  EXPECT_EQ(Entries(), 2u);
}

class PrivateFolderTest : public PrivateFileTest {
 protected:
  PrivateFolderTest() {
    setenv("TMPDIR", top_.c_str(), 1);
    unsetenv("XDG_RUNTIME_DIR");
  }
  ~PrivateFolderTest() override {
    unsetenv("TMPDIR");
    unsetenv("XDG_RUNTIME_DIR");
  }
  std::string Usual() const { return top_ / ("terrarium-" + std::to_string(geteuid())); }
};

TEST_F(PrivateFolderTest, IsCreatedOnceForItsUser) {
  EXPECT_EQ(*PrivateFolder(), Usual());
  EXPECT_EQ(ModeOf(Usual()), 0700u);
  EXPECT_EQ(*PrivateFolder(), Usual());
}

TEST_F(PrivateFolderTest, TheRuntimeFolderOfTheSessionComesFirst) {
  fs::create_directory(top_ / "run");
  setenv("XDG_RUNTIME_DIR", (top_ / "run").c_str(), 1);
  fs::permissions(top_ / "run", fs::perms(0755));
  EXPECT_EQ(*PrivateFolder(), (top_ / "run").string());
  fs::permissions(top_ / "run", fs::perms(0777));
  EXPECT_EQ(*PrivateFolder(), Usual()) << "every user may write there";
  setenv("XDG_RUNTIME_DIR", "", 1);
  EXPECT_EQ(*PrivateFolder(), Usual());
}

TEST_F(PrivateFolderTest, AnUnsafeFolderIsNotUsed) {
  fs::create_directory(top_ / "elsewhere");
  fs::create_symlink(top_ / "elsewhere", Usual());
  const std::string instead = *PrivateFolder();
  EXPECT_NE(instead, Usual());
  EXPECT_EQ(ModeOf(instead), 0700u);
  EXPECT_TRUE(fs::is_empty(top_ / "elsewhere"));
  fs::remove(Usual());
  fs::create_directory(Usual());
  fs::permissions(Usual(), fs::perms(0777));
  EXPECT_NE(*PrivateFolder(), Usual());
}

}  // namespace
}  // namespace terrarium::testbed
