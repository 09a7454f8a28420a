// preview_model: what is fetched to look at a model, and what is not.
#include "hub/remote/model_preview.h"

#include "base/files/mapped_file.h"
#include "formats/safetensors/safetensors.h"
#include "hub/download/file_start.h"
#include "tests/unit/hub/registry_testing.h"

namespace alate::hub {
namespace {

namespace fs = std::filesystem;

// A safetensors file of one tensor of `count` floats.
std::string weights_file(std::size_t count, std::size_t padding = 0) {
  std::string header = R"({"w":{"dtype":"F32","shape":[)" + std::to_string(count) + R"(],"data_offsets":[0,)" +
                       std::to_string(4 * count) + "]}}" + std::string(padding, ' ');
  std::string text;
  for (std::size_t i = 0; i < 8; ++i) text += static_cast<char>(header.size() >> (8 * i));
  return text + header + random_bytes(4 * count);
}

class Preview : public RegistryTesting {
 protected:
  Preview() {
    put({{"config.json", {"{\"model_type\": \"bert\"}"}},
         {"tokenizer.json", {"{}"}},
         {"README.md", {"---\nlicense: mit\n---\n"}},
         {"photo.png", {random_bytes(2000)}},
         {"model.safetensors", {weights, true}},
         {"onnx/model_int8.onnx", {random_bytes(3 << 20), true}}});
  }
  void put(std::map<std::string, HubFile> contents) { server.put_model(kId, kCommit, std::move(contents)); }
  ModelPreview preview(const std::string& reference = std::string("hf:") + kId) const {
    PullOptions asked = registry_reference ? registry_options() : options();
    asked.timeout = std::chrono::seconds(30);
    return preview_model(reference, asked);
  }
  std::size_t bytes_sent_of(const std::string& content) const {
    std::size_t count = 0;
    for (const HubRequest& each : server.requests())
      count += each.method == "GET" && each.path.find(HubServer::sha256(content)) != std::string::npos ? 1 : 0;
    return count;
  }

  const std::string weights = weights_file(1 << 20);
  bool registry_reference = false;
};

TEST_F(Preview, FetchesSmallFilesAndTheHeadersOfWeights) {
  const ModelPreview found = preview();
  EXPECT_EQ(found.id, kId);
  EXPECT_EQ(found.commit, kCommit);
  EXPECT_EQ(found.server, server.url());
  EXPECT_EQ(found.files.size(), 6U);
  EXPECT_FALSE(found.refusal);
  EXPECT_TRUE(found.has_tokenizer);
  EXPECT_TRUE(found.has_weights);
  EXPECT_EQ(text_of(found.folder() / "config.json"), "{\"model_type\": \"bert\"}");
  EXPECT_FALSE(fs::exists(found.folder() / "photo.png"));
  EXPECT_EQ(fs::file_size(found.folder() / "onnx/model_int8.onnx"), std::uintmax_t{3} << 20);
  const auto file = formats::SafetensorsFile::open(found.folder() / "model.safetensors");
  EXPECT_EQ(file->entries().size(), 1U);
  EXPECT_EQ(found.bytes_to_fetch(), weights.size() + 22 + 2 + 21);
  // The weights' header came by one range request; nothing came of the other variant.
  std::size_t of_weights = 0;
  for (const HubRequest& each : server.requests()) {
    EXPECT_EQ(each.path.find("onnx"), std::string::npos) << each.path;
    if (!each.is_storage) continue;
    ++of_weights;
    EXPECT_EQ(each.fields.at("range"), "bytes=0-131071");
  }
  EXPECT_EQ(of_weights, 1U);
  EXPECT_FALSE(fs::exists(cache));
  EXPECT_EQ(preview(std::string("hf:") + kId + ":int8").model.filename(), "model_int8.onnx");
}

TEST_F(Preview, LeavesNothingBehind) {
  fs::path place;
  {
    const ModelPreview found = preview();
    place = found.temporary->path();
    EXPECT_TRUE(fs::exists(place));
    EXPECT_EQ(fs::status(place).permissions() & (fs::perms::group_all | fs::perms::others_all), fs::perms::none);
  }
  EXPECT_FALSE(fs::exists(place));
}

TEST_F(Preview, LongHeadersServersWithoutRangesAndPickles) {
  const std::string longer = weights_file(300'000, 300'000);
  put({{"config.json", {"{}"}}, {"model.safetensors", {longer, true}}});
  EXPECT_EQ(formats::SafetensorsFile::open(preview().folder() / "model.safetensors")->entries().size(), 1U);
  server.change_answers([&](const HubRequest& request, HubAnswer& answer) {
    if (!request.is_storage) return;
    answer.status = 200;
    answer.body = longer;
    answer.fields.erase("Content-Range");
  });
  const ModelPreview whole = preview();
  EXPECT_FALSE(whole.has_weights);
  EXPECT_EQ(whole.notes.size(), 1U);
  server.change_answers({});
  put({{"config.json", {"{}"}},
       {"pytorch_model.bin", {longer, true}},
       {"tokenizer.json", {random_bytes(5 << 20), true}}});
  const ModelPreview pickled = preview();
  EXPECT_FALSE(pickled.has_weights);
  EXPECT_FALSE(pickled.has_tokenizer);
  EXPECT_EQ(pickled.notes.size(), 2U);
  EXPECT_EQ(bytes_sent_of(random_bytes(5 << 20)), 0U);
}

TEST_F(Preview, HeadersThatLie) {
  std::string lying = weights;
  lying[3] = '\x7f';  // a header of 2 GB
  put({{"config.json", {"{}"}}, {"model.safetensors", {lying, true}}});
  const ModelPreview found = preview();
  EXPECT_EQ(base::error_of([&] { formats::SafetensorsFile::open(found.folder() / "model.safetensors"); }).code(),
            ErrorCode::corrupt);
  std::size_t ranges = 0;
  for (const HubRequest& each : server.requests()) ranges += each.is_storage ? 1 : 0;
  EXPECT_EQ(ranges, 1U);
}

TEST_F(Preview, GatedModelsAndChoices) {
  server.change_answers([](const HubRequest& request, HubAnswer& answer) {
    if (request.path.starts_with("/api/")) {
      answer.body.insert(1, R"("gated": "manual", "cardData": {"license": "llama3"}, )");
      return;
    }
    answer.status = 403;
    answer.fields = {{"X-Error-Code", "GatedRepo"}};
    answer.body = "";
  });
  const ModelPreview gated = preview();
  EXPECT_EQ(gated.gated, "manual");
  EXPECT_EQ(gated.licence, "llama3");
  ASSERT_TRUE(gated.refusal);
  EXPECT_EQ(gated.refusal->code(), ErrorCode::unauthenticated);
  server.change_answers({});
  const ModelPreview missing = preview(std::string("hf:") + kId + ":q4");
  ASSERT_TRUE(missing.refusal);
  EXPECT_EQ(missing.refusal->code(), ErrorCode::not_found);
  EXPECT_EQ(missing.bytes_to_fetch(), 0U);
  EXPECT_EQ(base::error_of([&] { preview("hf:owner/nothing"); }).code(), ErrorCode::not_found);
}

TEST_F(Preview, SmallFilesAreComparedWithTheirDigests) {
  server.change_answers([](const HubRequest& request, HubAnswer& answer) {
    if (request.path.ends_with("config.json")) answer.body[2] ^= 1;
  });
  EXPECT_EQ(base::error_of([&] { preview(); }).code(), ErrorCode::corrupt);
}

TEST_F(Preview, HostileListsAreRefused) {
  server.put_listing(kId, R"({"sha": ")" + kCommit +
                              R"(", "siblings": [{"rfilename": "../../x.json", "size": 1, "blobId": ")" +
                              std::string(40, 'a') + R"("}]})");
  EXPECT_EQ(base::error_of([&] { preview(); }).code(), ErrorCode::corrupt);
  server.put_listing(kId, R"({"sha": ")" + kCommit +
                              R"(", "siblings": [{"rfilename": "config.json", "size": 1},
                                                 {"rfilename": "Config.json", "size": 1}]})");
  EXPECT_EQ(base::error_of([&] { preview(); }).code(), ErrorCode::corrupt);
}

TEST_F(Preview, OfARegistrysModel) {
  registry_reference = true;
  const ModelPreview found = preview("acme/small");
  EXPECT_EQ(found.id, "acme/small");
  EXPECT_EQ(found.server, registry());
  EXPECT_EQ(found.files.size(), 6U);
  EXPECT_EQ(found.bytes_to_fetch(), large.size() + 22 + 2 + 8);
  EXPECT_EQ(fs::file_size(found.folder() / "model.onnx"), large.size());
  EXPECT_EQ(server.count("GET", HubServer::sha256(large)), 0U);
  const std::string manifest = text_of(found.folder() / "model_manifest.json");
  EXPECT_NE(manifest.find("x-kept"), std::string::npos) << manifest;
  EXPECT_EQ(manifest.find("sha256"), std::string::npos) << manifest;
  EXPECT_EQ(preview("registry:acme/small:i8").model.filename(), "model_i8.onnx");
  EXPECT_FALSE(fs::exists(models));
}

}  // namespace
}  // namespace alate::hub
