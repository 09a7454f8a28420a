// Models whose mapped weights are truncated while they are in use. Windows does not let that happen.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "alate/model.h"
#include "base/files/mapping_guard.h"
#include "runtime/loading/loaded_model.h"
#include "tests/source_folder.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"

namespace alate {
namespace {

namespace fs = std::filesystem;

class TruncatedModel : public testing::Test {
 protected:
  TruncatedModel() { base::catch_bus_errors(); }

  fs::path copy(const std::string& name) const {
    const fs::path to = folder_.path() / name;
    fs::create_directories(to);
    for (const char* file : {"config.json", "model.safetensors"})
      fs::copy_file(source_folder() / "tests/golden/models/odd_sizes" / file, to / file);
    return to;
  }

  static void cut_off(const fs::path& model, std::uintmax_t size) {
    fs::resize_file(model / "model.safetensors", size);
  }

  static Tensor result_of(const Model& model) {
    return model.forward({{"input_ids", Tensor::from<std::int64_t>({1, 3}, {1, 2, 3})}}).at("last_hidden_state");
  }

  static std::string bytes_of(const Tensor& tensor) {
    return {reinterpret_cast<const char*>(tensor.bytes().data()), tensor.byte_count()};
  }

  static void expect_truncated(const Error& error, const fs::path& model) {
    EXPECT_EQ(error.code(), ErrorCode::corrupt);
    EXPECT_NE(error.message().find((model / "model.safetensors").string() + " was truncated while it was in use"),
              std::string::npos)
        << error.message();
  }

  base::TemporaryFolder folder_;
};

TEST_F(TruncatedModel, FailsAndLeavesOthersAlone) {
  const Model broken = Model::load(copy("broken")), whole = Model::load(copy("whole"));
  const std::string right = bytes_of(result_of(whole));
  EXPECT_EQ(bytes_of(result_of(broken)), right);
  for (const std::uintmax_t size : {std::uintmax_t{5000}, std::uintmax_t{0}}) {
    cut_off(folder_.path() / "broken", size);
    expect_truncated(base::error_of([&] { result_of(broken); }), folder_.path() / "broken");
    EXPECT_EQ(bytes_of(result_of(whole)), right);
  }
  fs::remove_all(folder_.path() / "broken");
  EXPECT_EQ(bytes_of(result_of(Model::load(copy("broken")))), right) << "loaded again it is as before";
}

TEST_F(TruncatedModel, FailsToLoadWhenItIsCutOffMeanwhile) {
  const fs::path model = copy("broken");
  for (const char* backend : {"cpu", "reference"}) {
    fs::remove_all(model);
    copy("broken");
    const auto load = [&] {
      runtime::LoadWatch watch;
      Model::State::load(model, LoadOptions{.backend = {.places = {BackendPlace::parse(backend)}}}, watch,
                         [&](const Model::State& state) {
                           cut_off(model, 0);
                           state.prepare_forward();
                         });
    };
    expect_truncated(base::error_of(load), model);
  }
}

TEST_F(TruncatedModel, WeightsThatWereReadOutliveTheFile) {
  const fs::path model = copy("read");
  const Model read = Model::load(model, {.map_files = false});
  const std::string right = bytes_of(result_of(read));
  cut_off(model, 0);
  EXPECT_EQ(bytes_of(result_of(read)), right);
}

}  // namespace
}  // namespace alate
