// Pulls from a registry of a HubServer into a models directory of the test.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "formats/json.h"
#include "tests/unit/hub/pull_testing.h"

namespace alate::hub {

class RegistryTesting : public PullTesting {
 protected:
  using Contents = std::map<std::string, std::string>;

  RegistryTesting() { put_registry(base_files, variants); }

  static formats::Json entry_of(const std::string& name, const std::string& content) {
    return formats::Json::Object{
        {"name", name}, {"digest", "sha256:" + HubServer::sha256(content)}, {"size", std::uint64_t{content.size()}}};
  }
  static formats::Json::Array entries_of(const Contents& contents) {
    formats::Json::Array entries;
    for (const auto& [name, content] : contents) entries.push_back(entry_of(name, content));
    return entries;
  }

  /// The index, the manifest of acme/small and all blobs.
  void put_registry(const Contents& base, const std::map<std::string, Contents>& more, const std::string& note = "") {
    formats::Json::Object listed;
    formats::Json::Array names;
    for (const auto& [variant, contents] : more) {
      listed.emplace_back(variant, formats::Json::Object{{"files", entries_of(contents)}});
      names.emplace_back(variant);
      put_blobs(contents);
    }
    put_blobs(base);
    put_manifest(formats::to_json_text(formats::Json::Object{{"schemaVersion", 2},
                                                             {"name", "small"},
                                                             {"owner", "acme"},
                                                             {"type", "embedder"},
                                                             {"description", note},
                                                             {"files", entries_of(base)},
                                                             {"variants", std::move(listed)},
                                                             {"x-kept", formats::Json::Array{1, 2}},
                                                             {"provenance", formats::Json::Object{{"by", "them"}}}}));
    server.put_page(
        "/v1/index.json",
        formats::to_json_text(formats::Json::Object{
            {"schemaVersion", 2},
            {"models", formats::Json::Array{
                           formats::Json::Object{{"name", "small"},
                                                 {"owner", "acme"},
                                                 {"type", "embedder"},
                                                 {"size", 20'000'000},
                                                 {"variants", std::move(names)}},
                           formats::Json::Object{{"name", "painter"}, {"owner", "acme"}, {"type", "generator"}}}}}));
  }
  void put_blobs(const Contents& contents) {
    for (const auto& [name, content] : contents)
      server.put_page("/v1/blobs/sha256:" + HubServer::sha256(content), content);
  }
  void put_manifest(const std::string& text) { server.put_page("/v1/manifests/acme/small.json", text); }

  std::string registry() const { return server.url() + "/v1"; }
  PullOptions registry_options() const {
    PullOptions out = options();
    out.registry = registry();
    out.models_dir = models;
    out.timeout = std::chrono::seconds(30);  // a busy machine is no broken server
    return out;
  }
  PulledModel pull_small(const std::string& reference = "acme/small") const {
    return pull_model(reference, registry_options());
  }
  Error refused_small(const std::string& reference = "acme/small") const {
    return base::error_of([&] { pull_small(reference); });
  }

  /// The folder has these files, a manifest and no others, and nothing else is in the models directory but locks.
  void expect_model(const Contents& expected) const {
    namespace fs = std::filesystem;
    std::size_t count = 0;
    for (const auto& entry : fs::recursive_directory_iterator(models)) {
      const std::string name = entry.path().lexically_relative(models).generic_string();
      if (entry.is_directory() || name.starts_with(".locks/")) continue;
      EXPECT_TRUE(name.starts_with("acme/small/")) << name;
      ++count;
    }
    EXPECT_EQ(count, expected.size() + 1);
    for (const auto& [name, content] : expected) EXPECT_TRUE(text_of(target / name) == content) << name;
    EXPECT_TRUE(fs::exists(target / "model_manifest.json"));
    EXPECT_FALSE(fs::exists(models / "acme/.small.pull"));
  }
  static Contents together(Contents a, const Contents& b) {
    a.insert(b.begin(), b.end());
    return a;
  }

  const Contents base_files = {{"model.onnx", large},
                               {"config.json", "{\"model_type\": \"bert\"}"},
                               {"tokenizer.json", "{}"},
                               {"1_Pooling/config.json", "{\"a\": 1}"}};
  const Contents small_files = {
      {"config.json", "{\"model_type\": \"bert\"}"}, {"tokenizer.json", "{}"}, {"1_Pooling/config.json", "{\"a\": 1}"}};
  const Contents i8 = {{"model_i8.onnx", random_bytes(5 << 20, 2)}}, f16 = {{"model_f16.onnx", random_bytes(1000, 3)}};
  const std::map<std::string, Contents> variants = {{"i8", i8}, {"f16", f16}};
  std::filesystem::path models = folder.path() / "models", target = models / "acme/small";
};

}  // namespace alate::hub
