// Files that are truncated while they are mapped.
#include "base/files/mapping_guard.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <thread>
#include <vector>

#include "base/files/atomic_file.h"
#include "base/files/mapped_file.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate::base {
namespace {

namespace fs = std::filesystem;

const std::size_t kPage = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));

// Reads a byte of each page, which the compiler may not leave out.
std::size_t count_of(const MappedFile& file, char wanted) {
  std::size_t count = 0;
  const volatile std::byte* bytes = file.bytes().data();
  for (std::size_t at = 0; at < file.bytes().size(); at += kPage) count += bytes[at] == static_cast<std::byte>(wanted);
  return count;
}

TEST(MappingGuard, AFileThatIsCutOffWhileItIsReadIsAnErrorOfThatFile) {
  catch_bus_errors();
  const TemporaryFolder folder;
  const auto broken_path = folder.write("broken", std::string(16 * kPage, 'x'));
  const auto broken = MappedFile::open(broken_path);
  const auto whole = MappedFile::open(folder.write("whole", std::string(16 * kPage, 'y')));
  broken->require_unchanged();
  fs::resize_file(broken_path, 3 * kPage);
  EXPECT_EQ(count_of(*broken, 'x'), 3U);
  EXPECT_EQ(count_of(*broken, '\0'), 13U);
  const Error error = error_of([&] { broken->require_unchanged(); });
  EXPECT_EQ(error.code(), ErrorCode::corrupt);
  EXPECT_NE(error.message().find(broken_path.string() + " was truncated while it was in use"), std::string::npos)
      << error.message();
  EXPECT_NE(error.message().find("load the model again"), std::string::npos) << error.message();
  EXPECT_EQ(count_of(*whole, 'y'), 16U);
  whole->require_unchanged();
}

TEST(MappingGuard, AFileThatGrowsBackStaysBroken) {
  catch_bus_errors();
  const TemporaryFolder folder;
  const auto path = folder.write("a", std::string(4 * kPage, 'x'));
  const auto time = fs::last_write_time(path);
  const auto file = MappedFile::open(path);
  fs::resize_file(path, 0);
  EXPECT_EQ(count_of(*file, 'x'), 0U);
  std::ofstream(path) << std::string(4 * kPage, 'x');
  fs::last_write_time(path, time);
  EXPECT_EQ(error_of([&] { file->require_unchanged(); }).code(), ErrorCode::corrupt);
  MappedFile::open(path)->require_unchanged();  // opened again it is whole
}

// The rest of the last page reads as zeros without any signal.
TEST(MappingGuard, AnEndThatIsCutOffWithinAPageIsNoticed) {
  const TemporaryFolder folder;
  const auto path = folder.write("a", std::string(100, 'x'));
  const auto file = MappedFile::open(path);
  fs::resize_file(path, 99);
  EXPECT_EQ(error_of([&] { file->require_unchanged(); }).code(), ErrorCode::corrupt);
}

TEST(MappingGuard, AFileThatIsWrittenToInPlaceIsNoticed) {
  const TemporaryFolder folder;
  const auto path = folder.write("a", "old");
  fs::last_write_time(path, fs::last_write_time(path) - std::chrono::seconds(2));
  const auto file = MappedFile::open(path);
  std::ofstream(path, std::ios::in | std::ios::out) << "new";
  const Error error = error_of([&] { file->require_unchanged(); });
  EXPECT_NE(error.message().find(" was changed while it was in use"), std::string::npos) << error.message();
}

TEST(MappingGuard, AFileWhoseNameAnotherHasTakenIsWhole) {
  const TemporaryFolder folder;
  const auto path = folder.write("a", std::string(4 * kPage, 'x'));
  const auto file = MappedFile::open(path);
  write_file_atomically(path, std::as_bytes(std::span(std::string_view("b"))));
  file->require_unchanged();
  fs::remove(path);
  file->require_unchanged();
  EXPECT_EQ(count_of(*file, 'x'), 4U);
}

TEST(MappingGuard, ManyThreadsMayMeetTheSameLostPages) {
  catch_bus_errors();
  const TemporaryFolder folder;
  for (int round = 0; round < 20; ++round) {
    const auto path = folder.write("a", std::string(64 * kPage, 'x'));
    const auto file = MappedFile::open(path);
    fs::resize_file(path, kPage);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back([&] { EXPECT_EQ(count_of(*file, '\0'), 63U); });
    for (std::thread& each : threads) each.join();
    EXPECT_EQ(error_of([&] { file->require_unchanged(); }).code(), ErrorCode::corrupt);
  }
}

TEST(MappingGuard, PlacesOfClosedFilesAreUsedAgain) {
  catch_bus_errors();
  const TemporaryFolder folder;
  std::vector<std::shared_ptr<const MappedFile>> open;
  for (int i = 0; i < 200; ++i) {
    const auto path = folder.write("f" + std::to_string(i % 7), std::string(2 * kPage, 'x'));
    open.push_back(MappedFile::open(path));
    fs::resize_file(path, 0);
    EXPECT_EQ(count_of(*open.back(), '\0'), 2U);
    if (open.size() > 5) open.erase(open.begin(), open.begin() + 3);
  }
}

// What is no mapping of ours ends the process as before.
void leave(int) { ::_exit(17); }

void touch_a_lost_page() {
  const TemporaryFolder folder;
  const auto path = folder.write("a", std::string(kPage, 'x'));
  std::FILE* file = std::fopen(path.c_str(), "r");
  auto* page = static_cast<volatile char*>(::mmap(nullptr, kPage, PROT_READ, MAP_PRIVATE, ::fileno(file), 0));
  fs::resize_file(path, 0);
  [[maybe_unused]] const char lost = page[0];
  std::fprintf(stderr, "still here");
}

TEST(MappingGuardDeathTest, OtherErrorsGoToTheHandlerBefore) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        std::signal(SIGBUS, leave);
        catch_bus_errors();
        touch_a_lost_page();
      },
      testing::ExitedWithCode(17), "");
}

TEST(MappingGuardDeathTest, OtherErrorsEndTheProcessWhereThereWasNoHandler) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        std::signal(SIGBUS, SIG_DFL);
        catch_bus_errors();
        touch_a_lost_page();
      },
      testing::KilledBySignal(SIGBUS), "");
  EXPECT_EXIT(
      {
        std::signal(SIGBUS, SIG_DFL);
        catch_bus_errors();
        ::raise(SIGBUS);
      },
      testing::KilledBySignal(SIGBUS), "");
}

TEST(MappingGuardDeathTest, AHandlerOfTheProgramIsLeftInItsPlace) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        std::signal(SIGBUS, leave);
        const TemporaryFolder folder;
        const auto path = folder.write("a", std::string(kPage, 'x'));
        const auto file = MappedFile::open(path);
        fs::resize_file(path, 0);
        (void)count_of(*file, '\0');
      },
      testing::ExitedWithCode(17), "");
}

}  // namespace
}  // namespace alate::base
