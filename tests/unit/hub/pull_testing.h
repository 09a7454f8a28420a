// Pulls from a HubServer into a folder of the test.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/hub.h"
#include "folders/cache_layout.h"
#include "folders/manifest.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"
#include "tests/unit/hub/hub_server.h"

namespace alate::hub {

/// Made once for each count and seed: most tests of a program want the same ones.
inline const std::string& random_bytes(std::size_t count, unsigned seed = 1) {
  static std::map<std::pair<std::size_t, unsigned>, std::string> made;
  std::string& text = made[{count, seed}];
  if (text.size() == count) return text;
  std::mt19937 random(seed);
  text.resize(count);
  for (std::size_t i = 0; i < count; i += 4) {
    const auto word = static_cast<std::uint32_t>(random());
    for (std::size_t j = i; j < std::min(i + 4, count); ++j) text[j] = static_cast<char>(word >> (8 * (j - i)));
  }
  return text;
}

/// What a file has; nothing where there is none. Not byte by byte, which takes seconds in builds for sanitizers.
inline std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

class PullTesting : public testing::Test {
 protected:
  static constexpr const char* kId = "owner/model";
  static inline const std::string kCommit = std::string(39, 'a') + "1";

  PullTesting() {
    ::setenv("no_proxy", "127.0.0.1", 1);
    for (const char* name : {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"})
      ::unsetenv(name);
    ::setenv("HF_HOME", (folder.path() / "home").c_str(), 1);
    server.put_model(kId, kCommit, files);
  }
  ~PullTesting() override { ::unsetenv("HF_HOME"); }

  PullOptions options() const {
    return {.cache = cache,
            .endpoint = server.url(),
            .offline = false,
            .timeout = std::chrono::seconds(30),  // a busy machine is no broken server
            .retry_delay = std::chrono::milliseconds(5)};
  }
  PulledModel pull(const std::string& reference = kId) const { return pull_model(reference, options()); }
  Error refused(const std::string& reference = kId) const {
    return base::error_of([&] { pull(reference); });
  }
  folders::CachedRepo repo() const { return {cache, kId}; }

  /// The snapshot has these files, their manifest and no others, and nothing temporary is left.
  void expect_snapshot(const std::map<std::string, HubFile>& expected) const {
    auto found = repo().files(kCommit);
    expect_manifest(expected);
    std::erase_if(found, [](const folders::CachedFile& file) { return file.name == "model_manifest.json"; });
    EXPECT_EQ(found.size(), expected.size());
    for (const folders::CachedFile& file : found) {
      ASSERT_TRUE(expected.contains(file.name)) << file.name;
      EXPECT_EQ(file.problem, "") << file.name;
      EXPECT_TRUE(text_of(file.path) == expected.at(file.name).content) << file.name;
    }
    expect_nothing_temporary();
    EXPECT_EQ(repo().commit_of("main"), kCommit);
  }
  void expect_manifest(const std::map<std::string, HubFile>& expected) const {
    const folders::Manifest manifest = folders::read_manifest(repo().snapshot(kCommit));
    EXPECT_EQ(manifest.files.size(), expected.size());
    for (const auto& [name, file] : expected) {
      const folders::ManifestFile* listed = manifest.find_file(name);
      ASSERT_NE(listed, nullptr) << name;
      EXPECT_EQ(listed->sha256, HubServer::sha256(file.content)) << name;
      EXPECT_EQ(listed->size, file.content.size()) << name;
    }
  }
  void expect_nothing_temporary() const {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(cache)) {
      const std::string name = entry.path().filename().string();
      EXPECT_EQ(name.find("incomplete"), std::string::npos) << name;
      EXPECT_EQ(name.find(".tmp"), std::string::npos) << name;
    }
  }

  base::TemporaryFolder folder;
  std::filesystem::path cache = folder.path() / "hub";
  static inline const std::string large = random_bytes((std::size_t{20} << 20) + 12345);
  const std::map<std::string, HubFile> files = {{"config.json", {"{\"model_type\": \"bert\"}"}},
                                                {"tokenizer.json", {"{}"}},
                                                {"1_Pooling/config.json", {"{\"a\": 1}"}},
                                                {"model.safetensors", {large, true}}};
  HubServer server;
};

}  // namespace alate::hub
