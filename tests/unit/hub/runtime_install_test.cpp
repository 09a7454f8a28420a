// Installation of runtimes from small wheels made here, from files and from an index on this machine.
#include "hub/install/runtime_install.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "base/files/mapped_file.h"
#include "base/os/platform.h"
#include "base/sha256.h"
#include "formats/zip_writer.h"
#include "hub/install/package_index.h"
#include "hub/install/pip_configuration.h"
#include "hub/install/wheel.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"
#include "tests/unit/hub/web_server.h"

namespace alate::hub {
namespace {

namespace fs = std::filesystem;

std::string zip_of(const std::vector<std::pair<std::string, std::string>>& files) {
  formats::ZipWriter writer;
  for (const auto& [name, content] : files) writer.add(name, std::as_bytes(std::span(content)));
  const std::vector<std::byte> bytes = writer.finish();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string sum_of(const std::string& text) { return base::Sha256().add(std::as_bytes(std::span(text))).finish(); }

std::string tiny_wheel() {
  return zip_of({{"tiny/capi/libtiny.so.1.2.3", "the library"},
                 {"tiny/capi/libtiny_extra.so", "not wanted"},
                 {"tiny/other/libtiny.so.1", "elsewhere"},
                 {"tiny/__init__.py", "code"},
                 {"tiny-1.2.3.dist-info/licenses/LICENSE", "do what you like"}});
}

class RuntimeInstall : public testing::Test {
 protected:
  RuntimeInstall() : wheel_(tiny_wheel()), sum_(sum_of(wheel_)) {
    ::setenv("no_proxy", "127.0.0.1", 1);
    package_.name = "tiny";
    package_.project = "tiny-runtime";
    package_.version = "1.2.3";
    package_.platform = base::platform();
    package_.file = "tiny_runtime-1.2.3-py3-none-any.whl";
    package_.sha256 = sum_;
    package_.bytes = wheel_.size();
    package_.licence = "MIT";
    package_.library = "tiny/capi/libtiny.so";
    options_.folder = folder_.path() / "runtimes";
    options_.index = server_.url("/simple");
  }

  InstalledRuntime install() const { return install_package(package_, options_, {}); }
  Error failure() const {
    return base::error_of([&] { install(); });
  }
  // Everything below the runtimes' folder but the lock, so that nothing half done stays.
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(options_.folder)) {
      const std::string name = fs::relative(entry.path(), options_.folder).string();
      if (entry.is_regular_file() && !name.ends_with(".lock")) names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  void publish(const std::string& wheel) {
    server_.put_file("/simple/tiny-runtime/", "application/vnd.pypi.simple.v1+json",
                     R"({"files": [{"filename": "tiny_runtime-1.2.2-py3-none-any.whl", "url": "/old"},
                         {"filename": "tiny_runtime-1.2.3-py3-none-any.whl", "url": "../../files/new.whl"}]})");
    server_.put_file("/files/new.whl", "application/octet-stream", wheel);
  }

  const std::vector<std::string> kInstalled = {"tiny-1.2.3/LICENSE", "tiny-1.2.3/libtiny.so.1.2.3"};
  base::TemporaryFolder folder_;
  WebServer server_;
  std::string wheel_, sum_;
  RuntimePackage package_;
  InstallOptions options_;
};

TEST_F(RuntimeInstall, FromAFile) {
  options_.from = folder_.write("tiny_runtime-1.2.3-py3-none-any.whl", wheel_);
  options_.offline = true;
  const InstalledRuntime installed = install();
  EXPECT_FALSE(installed.already_installed);
  EXPECT_EQ(installed.version, "1.2.3");
  EXPECT_EQ(installed.library, options_.folder / "tiny-1.2.3" / "libtiny.so.1.2.3");
  EXPECT_EQ(base::read_text_file(installed.library), "the library");
  EXPECT_EQ(files(), kInstalled);
  EXPECT_TRUE(server_.requests().empty());
}

TEST_F(RuntimeInstall, SaysWhereItIsFrom) {
  options_.from = folder_.write("w.whl", wheel_);
  EXPECT_EQ(install().origin,
            "from tiny_runtime-1.2.3-py3-none-any.whl of the package index's project tiny-runtime, sha256 " + sum_);
  fs::remove_all(options_.folder);
  package_.builder = "somebody";
  EXPECT_TRUE(install().origin.ends_with("; built and published by somebody, not by the runtime's own makers"));
  const std::string other = zip_of({{"tiny/capi/libtiny.so.1.2.3", "other"}});
  options_.from = folder_.write("v.whl", other);
  options_.allow_unpinned = true;
  EXPECT_EQ(install().origin, "from " + options_.from.string() + ", sha256 " + sum_of(other) + ", which is not pinned");
}

TEST_F(RuntimeInstall, FromTheIndex) {
  publish(wheel_);
  std::vector<std::string> steps;
  std::uint64_t most = 0;
  const InstalledRuntime installed =
      install_package(package_, options_, [&](std::string_view step, std::uint64_t done, std::uint64_t total) {
        if (steps.empty() || steps.back() != step) steps.emplace_back(step);
        if (step == "fetching") {
          EXPECT_EQ(total, wheel_.size());
        }
        most = std::max(most, done);
      });
  EXPECT_EQ(files(), kInstalled);
  EXPECT_EQ(installed.version, "1.2.3");
  EXPECT_EQ(steps, (std::vector<std::string>{"fetching", "unpacking"}));
  EXPECT_EQ(most, wheel_.size());
  EXPECT_TRUE(install().already_installed);
  EXPECT_EQ(server_.requests().size(), 2U);
}

TEST_F(RuntimeInstall, AWheelThatIsAnotherIsRefusedAndLeavesNothing) {
  publish(zip_of({{"tiny/capi/libtiny.so.1.2.3", "something el"}}));
  const Error error = failure();
  EXPECT_EQ(error.code(), ErrorCode::corrupt);
  EXPECT_NE(error.message().find(sum_), std::string::npos) << error.message();
  EXPECT_TRUE(files().empty());
}

TEST_F(RuntimeInstall, MoreBytesThanTheTableSaysAreNotFetched) {
  publish(wheel_ + "x");
  EXPECT_EQ(failure().code(), ErrorCode::resource_exhausted);
  EXPECT_TRUE(files().empty());
}

TEST(PackageIndex, IsTheOneThatPipIsSetUpFor) {
  EXPECT_EQ(index_url_of("[global]\nindex-url = https://mirror.example/simple\r\n"), "https://mirror.example/simple");
  EXPECT_EQ(index_url_of("[global]\nindex-url: a\n[download]\nindex_url=b\n[freeze]\nindex-url=c"), "b");
  EXPECT_EQ(index_url_of("# index-url = a\nindex-url = b\n[global]\nextra-index-url = c\ncert = d\n"), std::nullopt);
  const base::TemporaryFolder folder;
  for (const char* name : {"ALATE_PACKAGE_INDEX", "PIP_INDEX_URL"}) ::unsetenv(name);
  ::setenv("PIP_CONFIG_FILE", folder.write("pip.conf", "[global]\nindex-url = https://mirror.example/a\n").c_str(), 1);
  EXPECT_EQ(package_index(), "https://mirror.example/a");
  ::setenv("PIP_INDEX_URL", "https://mirror.example/b", 1);
  EXPECT_EQ(package_index(), "https://mirror.example/b");
  ::unsetenv("PIP_INDEX_URL");
  ::unsetenv("PIP_CONFIG_FILE");
}

TEST_F(RuntimeInstall, AnIndexWithoutTheFile) {
  EXPECT_EQ(failure().code(), ErrorCode::not_found);
  server_.put_file("/simple/tiny-runtime/", "text/html", "<a href=\"/x.whl\">x.whl</a>");
  EXPECT_NE(failure().message().find("has no tiny_runtime-1.2.3"), std::string::npos);
}

TEST_F(RuntimeInstall, OfflineSaysWhatToDo) {
  options_.offline = true;
  EXPECT_EQ(failure().code(), ErrorCode::unavailable);
  EXPECT_NE(failure().message().find("--from"), std::string::npos);
  EXPECT_TRUE(server_.requests().empty());
}

TEST_F(RuntimeInstall, TermsMayForbidFetching) {
  package_.may_fetch = false;
  EXPECT_EQ(failure().code(), ErrorCode::unsupported);
  EXPECT_TRUE(server_.requests().empty());
  options_.from = folder_.write("tiny_runtime-1.2.3-py3-none-any.whl", wheel_);
  EXPECT_FALSE(install().already_installed);
}

TEST_F(RuntimeInstall, AnUnpinnedFileMustBeAllowed) {
  const std::string newer = zip_of({{"tiny/capi/libtiny.so.1.3.0", "newer"}});
  options_.from = folder_.write("tiny_runtime-1.3.0-py3-none-any.whl", newer);
  EXPECT_EQ(failure().code(), ErrorCode::corrupt);
  EXPECT_NE(failure().message().find("--allow-unpinned"), std::string::npos);
  options_.allow_unpinned = true;
  EXPECT_EQ(install().version, "1.3.0");
  EXPECT_EQ(files(), std::vector<std::string>{"tiny-1.3.0/libtiny.so.1.3.0"});
}

TEST_F(RuntimeInstall, OneVersionReplacesAnotherButNotItsNeighbours) {
  fs::create_directories(options_.folder / "tiny-1.0");
  folder_.write("runtimes/tiny-1.0/libtiny.so.1.0", "old");
  folder_.write("runtimes/tiny-webgpu-0.1/libtiny.so", "another package's");
  options_.from = folder_.write("w.whl", wheel_);
  install();
  EXPECT_EQ(files(), (std::vector<std::string>{"tiny-1.2.3/LICENSE", "tiny-1.2.3/libtiny.so.1.2.3",
                                               "tiny-webgpu-0.1/libtiny.so"}));
}

TEST_F(RuntimeInstall, WhatIsBrokenIsMadeAnew) {
  folder_.write("runtimes/tiny-1.2.3/README", "an interrupted copy by hand");
  options_.from = folder_.write("w.whl", wheel_);
  EXPECT_FALSE(install().already_installed);
  EXPECT_EQ(files(), kInstalled);
}

TEST_F(RuntimeInstall, FilesThatAreNoWheelsOrHaveNoLibrary) {
  options_.allow_unpinned = true;
  options_.from = folder_.write("a.whl", "no zip");
  EXPECT_EQ(failure().code(), ErrorCode::corrupt);
  options_.from = folder_.write("b.whl", zip_of({{"tiny/other.so", "x"}}));
  EXPECT_NE(failure().message().find("has no tiny/capi/libtiny.so"), std::string::npos);
  options_.from = folder_.path() / "missing.whl";
  EXPECT_EQ(failure().code(), ErrorCode::not_found);
  EXPECT_TRUE(files().empty());
}

TEST_F(RuntimeInstall, NamesInAWheelCannotLeaveTheFolder) {
  options_.allow_unpinned = true;
  options_.from = folder_.write(
      "a.whl", zip_of({{"tiny/capi/libtiny.so", "x"}, {"../../LICENSE-out", "x"}, {"/LICENSE-root", "x"}}));
  install();
  for (const std::string& name : files()) EXPECT_TRUE(name.starts_with("tiny-0-local/")) << name;
  EXPECT_FALSE(fs::exists(folder_.path() / "LICENSE-out"));
}

// The file changes between the check of its sum and its unpacking: `progress` is called between the two.
TEST_F(RuntimeInstall, WhatIsUnpackedIsWhatWasChecked) {
  const std::string evil = zip_of({{"tiny/capi/libtiny.so.1.2.3", "an evil one"}});
  options_.from = folder_.write("w.whl", wheel_);
  const auto replace = [&](std::string_view step, std::uint64_t, std::uint64_t) {
    if (step != "unpacking") return;
    // In place: the file that is open changes, too.
    std::ofstream(options_.from, std::ios::binary | std::ios::trunc) << evil;
  };
  const InstalledRuntime installed = install_package(package_, options_, replace);
  EXPECT_EQ(base::read_text_file(installed.library), "the library");
  EXPECT_EQ(files(), kInstalled);
}

TEST_F(RuntimeInstall, WhatIsDownloadedIsCheckedWhereItIsUnpacked) {
  publish(wheel_);
  const std::string evil = zip_of({{"tiny/capi/libtiny.so.1.2.3", "an evil one"}});
  const auto replace = [&](std::string_view step, std::uint64_t, std::uint64_t) {
    if (step != "unpacking") return;
    for (const auto& entry : fs::directory_iterator(options_.folder)) {
      if (entry.path().filename().string().starts_with(".tiny_runtime"))
        std::ofstream(entry.path(), std::ios::binary | std::ios::trunc) << evil;
    }
  };
  const InstalledRuntime installed = install_package(package_, options_, replace);
  EXPECT_EQ(base::read_text_file(installed.library), "the library");
}

TEST_F(RuntimeInstall, AFileThatIsLargerThanThePackageIsNotRead) {
  options_.from = folder_.write("w.whl", wheel_ + "x");
  const Error error = failure();
  EXPECT_EQ(error.code(), ErrorCode::corrupt);
  EXPECT_NE(error.message().find("has " + std::to_string(wheel_.size() + 1) + " bytes"), std::string::npos)
      << error.message();
  fs::resize_file(options_.from, (std::uintmax_t{1} << 30) + 1);  // takes no room on the disk
  options_.allow_unpinned = true;
  EXPECT_EQ(failure().code(), ErrorCode::resource_exhausted);
}

TEST_F(RuntimeInstall, TwoAtOnceDoItOnce) {
  publish(wheel_);
  std::vector<InstalledRuntime> done(4);
  std::vector<std::thread> threads;
  for (InstalledRuntime& each : done) threads.emplace_back([&] { each = install(); });
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(std::ranges::count(done, false, &InstalledRuntime::already_installed), 1);
  EXPECT_EQ(server_.requests().size(), 2U);
  EXPECT_EQ(files(), kInstalled);
}

TEST_F(RuntimeInstall, WholeFoldersComeWithTheirLibraries) {
  package_.whole_folder = true;
  options_.from = folder_.write("w.whl", wheel_);
  install();
  EXPECT_EQ(files(), (std::vector<std::string>{"tiny-1.2.3/LICENSE", "tiny-1.2.3/libtiny.so.1.2.3",
                                               "tiny-1.2.3/libtiny_extra.so"}));
}

TEST(RuntimePackages, RowsAreWhole) {
  for (const RuntimePackage& row : runtime_packages()) {
    SCOPED_TRACE(std::string(row.file));
    EXPECT_EQ(row.sha256.size(), 64U);
    EXPECT_EQ(row.sha256.find_first_not_of("0123456789abcdef"), std::string_view::npos);
    EXPECT_EQ(wheel_version(row.file), std::string(row.version));
    EXPECT_GT(row.bytes, 1000000U);
    EXPECT_FALSE(row.licence.empty());
    EXPECT_FALSE(row.sentence.empty());
    EXPECT_NE(row.library.find('/'), std::string_view::npos);
    EXPECT_EQ(&find_runtime_package(row.name, row.platform), &row);
  }
}

// XLA's own project publishes no plugin for processors. A user is told whose build it is.
TEST(RuntimePackages, ABuildOfAnotherProjectIsSaidToBeOne) {
  const RuntimePackage& xla = find_runtime_package("xla", "linux-x86_64");
  EXPECT_EQ(xla.project, "lammps-jax-pjrt-cpu");
  EXPECT_TRUE(xla.builder.starts_with("the project lammps-jax")) << xla.builder;
  EXPECT_NE(xla.sentence.find("lammps-jax"), std::string_view::npos) << "alate backends --help shows it";
  EXPECT_EQ(find_runtime_package("onnx", "linux-x86_64").builder, "");
}

TEST(RuntimePackages, NamesAndPlatforms) {
  EXPECT_EQ(find_runtime_package("ort", "linux-x86_64").name, "onnx");
  EXPECT_EQ(find_runtime_package("xla-cuda", "linux-x86_64").name, "xla-cuda12");
  const Error unknown = base::error_of([] { find_runtime_package("onyx", "linux-x86_64"); });
  EXPECT_EQ(unknown.code(), ErrorCode::not_found);
  EXPECT_NE(unknown.message().find("onnx, onnx-webgpu"), std::string::npos) << unknown.message();
  EXPECT_EQ(base::error_of([] { find_runtime_package("xla-tpu", "windows-x86_64"); }).code(), ErrorCode::unsupported);
}

TEST(RuntimePackages, InstalledAreListedAndRemoved) {
  const base::TemporaryFolder folder;
  const RuntimePackage& package = runtime_packages().front();
  if (package.platform != base::platform()) GTEST_SKIP() << "the table has no package for this platform";
  const auto installed = [&] {
    for (const RuntimeStatus& each : list_runtime_packages(folder.path())) {
      if (each.package.name == package.name) return each.installed;
    }
    return std::optional<InstalledRuntime>();
  };
  EXPECT_FALSE(installed());
  EXPECT_FALSE(remove_runtime(package.name, folder.path()));
  const fs::path library = folder.write("onnx-9.9.9/libonnxruntime.so.9.9.9", "x");
  folder.write("onnx-webgpu-1/libonnxruntime_providers_webgpu.so", "x");
  ASSERT_TRUE(installed());
  EXPECT_EQ(installed()->version, "9.9.9");
  EXPECT_EQ(installed()->library, library);
  EXPECT_TRUE(remove_runtime(package.name, folder.path()));
  EXPECT_FALSE(installed());
  EXPECT_TRUE(fs::exists(folder.path() / "onnx-webgpu-1"));
  EXPECT_EQ(base::error_of([&] { remove_runtime("nothing", folder.path()); }).code(), ErrorCode::not_found);
}

TEST(PackageIndex, ReferencesInHtml) {
  const std::string page =
      "<!DOCTYPE html><html><body>\n<a href=\"https://files.example/a/tiny-1.0-py3-none-any.whl#sha256=00\" "
      "data-requires-python=\"&gt;=3\">tiny-1.0-py3-none-any.whl</a><br>\n"
      "<a class='x' href = '../files/tiny-1.0%2Bcpu-py3-none-any.whl?a=1&amp;b=2'>tiny</a></body></html>";
  EXPECT_EQ(file_reference(page, "text/html; charset=utf-8", "tiny-1.0-py3-none-any.whl"),
            "https://files.example/a/tiny-1.0-py3-none-any.whl#sha256=00");
  EXPECT_EQ(file_reference(page, "text/html", "tiny-1.0+cpu-py3-none-any.whl"),
            "../files/tiny-1.0+cpu-py3-none-any.whl?a=1&b=2");
  EXPECT_EQ(file_reference(page, "text/html", "tiny-2.0-py3-none-any.whl"), "");
  for (const char* broken : {"<a href", "<a href=", "<a href=\"x", "<a href=x.whl>"})
    EXPECT_EQ(file_reference(broken, "text/html", "x.whl"), "") << broken;
}

TEST(PackageIndex, JsonThatIsNone) {
  const char* type = "application/vnd.pypi.simple.v1+json";
  EXPECT_EQ(base::error_of([&] { file_reference("{", type, "a"); }).code(), ErrorCode::corrupt);
  EXPECT_EQ(base::error_of([&] { file_reference("{}", type, "a"); }).code(), ErrorCode::corrupt);
  EXPECT_EQ(file_reference(R"({"files": []})", type, "a"), "");
  EXPECT_EQ(file_reference(R"({"files": [1, {}, {"filename": null}, {"filename": "a", "url": "u"}]})", type, "a"), "u");
  for (const char* page : {R"({"files": [{"filename": 0}]})", R"({"files": [{"filename": "a", "url": []}]})"})
    EXPECT_EQ(base::error_of([&] { file_reference(page, type, "a"); }).code(), ErrorCode::corrupt) << page;
}

TEST(PackageIndex, AsTheVariablesSay) {
  ::unsetenv("ALATE_PACKAGE_INDEX");
  ::unsetenv("PIP_INDEX_URL");
  EXPECT_EQ(package_index(), "https://pypi.org/simple");
  ::setenv("PIP_INDEX_URL", "https://mirror.example/pypi", 1);
  EXPECT_EQ(package_index(), "https://mirror.example/pypi");
  ::setenv("ALATE_PACKAGE_INDEX", "https://own.example/simple/", 1);
  EXPECT_EQ(package_index(), "https://own.example/simple/");
  ::unsetenv("ALATE_PACKAGE_INDEX");
  ::unsetenv("PIP_INDEX_URL");
}

}  // namespace
}  // namespace alate::hub
