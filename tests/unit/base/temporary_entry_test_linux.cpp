// What is swept of the entries that killed processes leave, and what a signal handler removes.
#include "base/files/temporary_entry.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>
#include <string>

#include "base/files/atomic_file.h"
#include "base/files/mapped_file.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate::base {
namespace {

namespace fs = std::filesystem;

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename());
  return names;
}

// The number of a process that has ended.
std::string gone_process() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  int status = 0;
  ::waitpid(child, &status, 0);
  return std::to_string(child);
}

// Runs it in a process that is killed before anything can be cleaned up.
template <typename Action>
void run_and_kill(const Action& action) {
  const pid_t child = ::fork();
  if (child == 0) {
    action();
    ::raise(SIGKILL);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
}

TEST(AbandonedEntries, WhatAKilledProcessLeftIsRemoved) {
  const TemporaryFolder folder;
  const fs::path target = folder.path() / "v.npy", other = folder.path() / "w.npy";
  run_and_kill([&] {
    AtomicFile half(target), different(other);
    ::raise(SIGKILL);
  });
  run_and_kill([&] {
    const TemporaryEntry half(target, EntryKind::folder, 0777);
    folder.write(half.path().filename().string() + "/inner/file", "x");
    ::raise(SIGKILL);
  });
  ASSERT_EQ(names_in(folder.path()).size(), 3U);
  remove_abandoned_entries(target, EntryKind::file);
  EXPECT_EQ(names_in(folder.path()).size(), 2U);
  remove_abandoned_entries(target, EntryKind::folder);
  ASSERT_EQ(names_in(folder.path()).size(), 1U);
  EXPECT_TRUE(names_in(folder.path()).begin()->starts_with("w.npy.tmp."));
}

TEST(AbandonedEntries, EverythingElseStays) {
  const TemporaryFolder folder;
  const fs::path target = folder.path() / "v.npy";
  const std::string gone = gone_process();
  const std::set<std::string> others = {"v.npy",
                                        "v.npy.tmp.",
                                        "v.npy.tmp." + gone,
                                        "v.npy.tmp." + gone + ".",
                                        "v.npy.tmp.1",
                                        "v.npy.tmp.x.0",
                                        "v.npy.tmp.0" + gone + ".0",
                                        "v.npy.tmp." + gone + ".0.bak",
                                        "my.v.npy.tmp.1.0",
                                        "v.npy.tmp." + gone + ".00",
                                        "v.npy.tmp.99999999999.0",
                                        "v.npy.tmp.-1.0",
                                        "w.npy.tmp." + gone + ".0"};
  for (const std::string& name : others) folder.write(name, "mine");
  const pid_t running = ::fork();
  if (running == 0) {
    ::pause();
    ::_exit(0);
  }
  folder.write("v.npy.tmp." + std::to_string(running) + ".0", "being written");
  // A link and a folder of such a name, and what they lead to.
  const TemporaryFolder elsewhere;
  const fs::path precious = elsewhere.write("precious", "x");
  fs::create_symlink(precious, folder.path() / ("v.npy.tmp." + gone + ".1"));
  fs::create_directory_symlink(elsewhere.path(), folder.path() / (".v.npy.tmp." + gone + ".1"));
  folder.write("v.npy.tmp." + gone + ".2/inner", "x");
  const std::set<std::string> before = names_in(folder.path());
  remove_abandoned_entries(target, EntryKind::file);
  remove_abandoned_entries(target, EntryKind::folder);
  ::kill(running, SIGKILL);
  ::waitpid(running, nullptr, 0);
  EXPECT_EQ(names_in(folder.path()), before);
  EXPECT_TRUE(fs::exists(precious));
  // The same without any of these reasons.
  folder.write("v.npy.tmp." + gone + ".3", "half");
  remove_abandoned_entries(target, EntryKind::file);
  EXPECT_FALSE(names_in(folder.path()).contains("v.npy.tmp." + gone + ".3"));
}

// In a container the next run often has the same number as the one that was killed.
TEST(AbandonedEntries, TheLockTellsOwnEntriesFromThoseOfAnEarlierProcessOfThisNumber) {
  const TemporaryFolder folder;
  const fs::path target = folder.path() / "v.npy";
  const AtomicFile open(target);
  const std::set<std::string> with_open = names_in(folder.path());
  folder.write("v.npy.tmp." + std::to_string(::getpid()) + ".4000000000", "half");
  remove_abandoned_entries(target, EntryKind::file);
  EXPECT_EQ(names_in(folder.path()), with_open);
}

TEST(UnfinishedEntries, AreRemovedAtOnceWithoutDestructors) {
  const TemporaryFolder folder;
  folder.write("kept", "x");
  const fs::path target = folder.path() / "model";
  const pid_t child = ::fork();
  if (child == 0) {
    AtomicFile file(folder.path() / "v.npy");
    TemporaryEntry model(target, EntryKind::folder, 0777);
    for (int i = 0; i < 200; ++i) folder.write(model.path().filename().string() + "/a/b/" + std::to_string(i), "x");
    fs::create_directory_symlink(folder.path(), model.path() / "link");
    write_file_atomically(folder.path() / "complete", {});
    remove_unfinished_entries();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(names_in(folder.path()), (std::set<std::string>{"complete", "kept"}));
}

TEST(AtomicFile, AKeptOneIsContinuedByTheNextAndBelongsToOneAtATime) {
  const TemporaryFolder folder;
  const auto bytes = [](std::string_view text) { return std::as_bytes(std::span(text)); };
  {
    AtomicFile first(TemporaryEntry::Kept(), folder.path() / "v");
    first.continue_at(0);
    first.write(bytes("0123456789"));
    EXPECT_EQ(first.sync(), 10);
    const Error error = error_of([&] { AtomicFile(TemporaryEntry::Kept(), folder.path() / "v"); });
    EXPECT_EQ(error.code(), ErrorCode::unavailable);
    EXPECT_NE(error.message().find("another process writes"), std::string::npos) << error.message();
  }
  remove_unfinished_entries();
  EXPECT_EQ(names_in(folder.path()), std::set<std::string>{"v.partial"});
  AtomicFile second(TemporaryEntry::Kept(), folder.path() / "v");
  EXPECT_EQ(second.kept_bytes(), 10);
  second.continue_at(4);
  second.write(bytes("abc"));
  second.rewrite_start(bytes("XY"));
  second.write(bytes("d"));
  second.commit();
  EXPECT_EQ(names_in(folder.path()), std::set<std::string>{"v"});
  EXPECT_EQ(read_text_file(folder.path() / "v"), "XY23abcd");
}

TEST(AtomicFile, AKeptOneIsGoneWhenItIsDiscarded) {
  const TemporaryFolder folder;
  AtomicFile file(TemporaryEntry::Kept(), folder.path() / "v");
  EXPECT_TRUE(std::filesystem::exists(file.path()));
  file.discard();
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(AtomicFile, AKeptOneDoesNotFollowALink) {
  const TemporaryFolder folder;
  const fs::path other = folder.write("other", "untouched");
  fs::create_symlink(other, folder.path() / "v.partial");
  error_of([&] { AtomicFile(TemporaryEntry::Kept(), folder.path() / "v"); });
  EXPECT_EQ(read_text_file(other), "untouched");
}

TEST(AtomicFile, AFullDiskIsResourceExhaustedAndLeavesNothing) {
  const TemporaryFolder folder;
  const pid_t child = ::fork();
  if (child == 0) {
    // A limit on the size of files fails like a full disk.
    const rlimit limit{4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    ::signal(SIGXFSZ, SIG_IGN);
    const std::string text(10'000, 'x');
    const Error error = error_of([&] { write_file_atomically(folder.path() / "v", std::as_bytes(std::span(text))); });
    ::_exit(error.code() == ErrorCode::resource_exhausted ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(AtomicFile, AFolderThatMayNotBeWrittenIsUnavailable) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  const TemporaryFolder folder;
  fs::permissions(folder.path(), fs::perms::owner_read | fs::perms::owner_exec);
  const Error error = error_of([&] { AtomicFile(folder.path() / "v"); });
  fs::permissions(folder.path(), fs::perms::owner_all);
  EXPECT_EQ(error.code(), ErrorCode::unavailable);
  EXPECT_NE(error.message().find("no file may be made in the folder"), std::string::npos) << error.message();
}

}  // namespace
}  // namespace alate::base
