// What a fingerprint identifies, and what a manifest's digests guarantee.
#include "runtime/loading/model_content.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "alate/error.h"
#include "alate/model.h"
#include "base/files/mapped_file.h"
#include "folders/builtin_models.h"
#include "tests/source_folder.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"
#include "tests/unit/exchange/onnx_messages.h"

namespace alate::runtime {
namespace {

namespace fs = std::filesystem;

class Content : public ::testing::Test {
 protected:
  Content() {
    ::setenv("ALATE_HOME", (folder_.path() / "home").c_str(), 1);
    fs::copy(source_folder() / "tests/golden/models/st_mean", model_, fs::copy_options::recursive);
  }
  ~Content() override { ::unsetenv("ALATE_HOME"); }

  // One bit of the weights is another; name, size and time stay.
  void swap_weights(const fs::path& folder) const {
    const fs::path file = folder / "model.safetensors";
    const fs::file_time_type time = fs::last_write_time(file);
    std::string bytes = base::read_text_file(file);
    bytes.back() = static_cast<char>(bytes.back() ^ 1);
    std::ofstream(folder / "new", std::ios::binary) << bytes;
    fs::last_write_time(folder / "new", time);
    fs::rename(folder / "new", file);
  }

  static Fingerprint fingerprint_of(const fs::path& folder) {
    return Model::load(folder, {.backend = {.places = {BackendPlace::cpu()}}}).fingerprint();
  }

  void write_manifest(const std::string& name, const std::string& digest, const std::string& more = "") const {
    folder_.write("model/model_manifest.json",
                  R"({"files": [{"name": ")" + name + R"(", "digest": "sha256:)" + digest + "\"" + more + "}]}");
  }

  base::TemporaryFolder folder_;
  fs::path model_ = folder_.path() / "model";
};

TEST_F(Content, AFingerprintIsOfTheBytes) {
  const Fingerprint before = fingerprint_of(model_);
  EXPECT_EQ(fingerprint_of(model_), before);
  swap_weights(model_);
  const Fingerprint after = fingerprint_of(model_);
  EXPECT_NE(after, before) << "name, size and time are the same, and the weights are others";
  swap_weights(model_);
  EXPECT_EQ(fingerprint_of(model_), before);
}

TEST_F(Content, PlaceAndTimeSayNothing) {
  const Fingerprint before = fingerprint_of(model_);
  fs::copy(model_, folder_.path() / "elsewhere", fs::copy_options::recursive);
  fs::last_write_time(folder_.path() / "elsewhere/model.safetensors",
                      fs::file_time_type::min() + std::chrono::hours(1));
  EXPECT_EQ(fingerprint_of(folder_.path() / "elsewhere"), before);
}

// The weights stay those that were mapped when the file is replaced before anybody asks.
TEST_F(Content, AFingerprintIsOfWhatWasLoaded) {
  const Fingerprint before = fingerprint_of(model_);
  const Model model = Model::load(model_, {.backend = {.places = {BackendPlace::cpu()}}});
  swap_weights(model_);
  EXPECT_EQ(model.fingerprint(), before);
}

TEST_F(Content, DigestsOfTheManifestAreChecked) {
  const std::string weights = base::FileDigests({}).sha256(model_ / "model.safetensors");
  const std::string vocabulary = base::FileDigests({}).sha256(model_ / "vocab.txt");
  const auto refusal = [&] { return base::error_of([&] { (void)fingerprint_of(model_); }); };
  write_manifest("model.safetensors", weights,
                 ", \"size\": " + std::to_string(fs::file_size(model_ / "model.safetensors")));
  EXPECT_NO_THROW(fingerprint_of(model_));
  write_manifest("vocab.txt", vocabulary);
  EXPECT_NO_THROW(fingerprint_of(model_));
  write_manifest("not_there.bin", weights);
  EXPECT_NO_THROW(fingerprint_of(model_));
  for (const char* name : {"model.safetensors", "vocab.txt", "1_Pooling/config.json"}) {
    write_manifest(name, std::string(64, '0'));
    EXPECT_EQ(refusal().code(), ErrorCode::corrupt);
    EXPECT_NE(refusal().message().find(name), std::string::npos) << refusal().message();
  }
  write_manifest("model.safetensors", weights, ", \"size\": 12");
  EXPECT_EQ(refusal().code(), ErrorCode::corrupt);
  EXPECT_NE(refusal().message().find("must be 12"), std::string::npos) << refusal().message();
  write_manifest("model.safetensors", weights);
  swap_weights(model_);
  EXPECT_EQ(refusal().code(), ErrorCode::corrupt);
}

TEST_F(Content, ExternalDataCounts) {
  using namespace exchange;
  const auto write = [&](const std::string& data) {
    folder_.write("onnx/w.bin", data);
    const fs::path file = folder_.write(
        "onnx/model.onnx", onnx_model(message_with(5, external_tensor("w", {{"location", "w.bin"}}, {4}))));
    const fs::path folder = folder_.path() / "onnx";
    return ModelContent({.home = folder, .folder = folder, .onnx_file = file}, {}, {}).fingerprint();
  };
  const Fingerprint before = write(std::string(16, 'a'));
  EXPECT_EQ(write(std::string(16, 'a')), before);
  EXPECT_NE(write(std::string(16, 'b')), before);
}

// It is believed without being read, which a test may not: the program starts with it in some milliseconds.
TEST(BuiltinModel, ItsManifestHasTheDigestOfEachFile) {
  for (const char* name : {"models/minilm", "models/pii"}) {
    const fs::path folder = source_folder() / name;
    const folders::Manifest manifest = folders::read_manifest(folder);
    std::size_t files = 0;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
      const std::string file = entry.path().lexically_relative(folder).generic_string();
      if (!entry.is_regular_file() || file == "model_manifest.json") continue;
      ++files;
      SCOPED_TRACE(std::string(name) + "/" + file + ": after a change run tools/update_manifest " + name);
      const folders::ManifestFile* listed = manifest.find_file(file);
      ASSERT_NE(listed, nullptr);
      EXPECT_EQ(listed->sha256, base::FileDigests({}).sha256(entry.path()));
      EXPECT_EQ(listed->size, entry.file_size());
    }
    EXPECT_EQ(manifest.files.size(), files);
  }
}

TEST_F(Content, DigestsOfAModelThatCameWithTheProgramAreBelieved) {
  const std::string invented(64, '7');
  const Fingerprint computed = fingerprint_of(model_);
  write_manifest("model.safetensors", invented);
  ::setenv("ALATE_BUILTIN_MODELS", folder_.path().c_str(), 1);
  EXPECT_NE(fingerprint_of("builtin:model"), computed);
  ::unsetenv("ALATE_BUILTIN_MODELS");
  EXPECT_EQ(base::error_of([&] { (void)fingerprint_of(model_); }).code(), ErrorCode::corrupt);
}

}  // namespace
}  // namespace alate::runtime
