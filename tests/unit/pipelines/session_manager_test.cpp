// Models that are loaded once for all callers.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "alate/error.h"
#include "alate/feature_extraction.h"
#include "alate/inference_backend.h"
#include "alate/session.h"
#include "tests/source_folder.h"

namespace alate {
namespace {

std::filesystem::path golden_model(const char* name) { return source_folder() / "tests/golden/models" / name; }

const std::filesystem::path kFolder = golden_model("st_mean");

NamedTensors inputs() {
  const std::vector<std::int64_t> ids = {2, 5, 6, 3};
  return {{"input_ids", Tensor::from<std::int64_t>({1, 4}, std::span(ids))}};
}

TEST(SessionManager, LoadsAModelOnceForAllWhoAsk) {
  SessionManager sessions;
  std::vector<std::thread> threads;
  std::atomic<const Model::State*> state = nullptr;
  std::atomic<int> others = 0;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      const SessionModel loaded = sessions.load_model(kFolder);
      const Model::State* expected = nullptr;
      if (!state.compare_exchange_strong(expected, &loaded.model.state()) && expected != &loaded.model.state())
        ++others;
      EXPECT_EQ(loaded.backend, "cpu");
      EXPECT_FALSE(loaded.model.forward(inputs()).empty());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(others, 0);
  ASSERT_EQ(sessions.sessions().size(), 1u);
  EXPECT_EQ(sessions.sessions().front().models, 1u);
}

TEST(SessionManager, PutsModelsWhereItsPriorityAndTheyAllow) {
  SessionManager sessions;
  EXPECT_EQ(sessions.load_model(kFolder).backend, "cpu");
  sessions.set_priority({BackendPlace("cuda"), BackendPlace::reference()});  // no build has cuda yet
  EXPECT_EQ(sessions.load_model(kFolder).backend, "reference");
  EXPECT_EQ(sessions.load_model(kFolder, {BackendPlace("go")}).backend, "cpu");
  EXPECT_EQ(sessions.load_model(kFolder, {}, {.backend = {.places = {BackendPlace("native")}}}).backend, "cpu");
  EXPECT_EQ(sessions.sessions().size(), 2u);
  EXPECT_THROW(sessions.set_priority({BackendPlace("tensorflow")}), Error);
  EXPECT_EQ(sessions.priority(), (std::vector<BackendPlace>{BackendPlace("cuda"), BackendPlace::reference()}));
}

TEST(SessionManager, FailsForEachAndTriesAgain) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "not_yet_a_model";
  std::filesystem::remove_all(folder);
  SessionManager sessions;
  EXPECT_THROW(sessions.load_model(folder), Error);
  std::filesystem::copy(kFolder, folder, std::filesystem::copy_options::recursive);
  EXPECT_EQ(sessions.load_model(folder).backend, "cpu");
  try {
    sessions.load_model(folder, {BackendPlace("cuda")}, {.backend = {.policy = BackendPolicy::strict}});
    FAIL() << "it was loaded";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unavailable);
  }
}

TEST(SessionManager, UnloadingWaitsForUsers) {
  SessionManager sessions;
  auto held = std::make_unique<SessionModel>(sessions.load_model(kFolder));
  EXPECT_FALSE(sessions.unload(kFolder, std::chrono::milliseconds(1)));
  EXPECT_FALSE(held->model.forward(inputs()).empty());  // it lives as long as somebody holds it
  std::thread user([&] { held.reset(); });
  EXPECT_TRUE(sessions.unload(kFolder, std::chrono::minutes(10)));
  user.join();
  EXPECT_EQ(sessions.sessions().front().models, 0u);
  EXPECT_EQ(sessions.load_model(kFolder).backend, "cpu");
  EXPECT_TRUE(sessions.unload("/nowhere"));
}

TEST(SessionManager, ModelsOutliveIt) {
  auto sessions = std::make_unique<SessionManager>();
  const SessionModel held = sessions->load_model(kFolder);
  sessions.reset();
  EXPECT_FALSE(held.model.forward(inputs()).empty());
}

TEST(InferenceBackend, IsByNameHereOrNot) {
  EXPECT_EQ(get_default_backend().name(), "cpu");
  EXPECT_EQ(get_inference_backend("simplego").name(), "cpu");
  EXPECT_TRUE(get_inference_backend("cpu").is_available());
  EXPECT_EQ(get_inference_backend("cpu").unavailable_reason(), "");
  EXPECT_THROW(get_inference_backend("nothing"), Error);
  EXPECT_EQ(get_inference_backend("reference").load(kFolder).facts().backend, "reference");
  EXPECT_FALSE(list_available_backends().empty());
}

TEST(FeatureExtraction, PoolsAsItIsTold) {
  const std::vector<std::string> texts = {"one text", "and a second one"};
  const auto mean = FeatureExtraction::load(kFolder, {.normalization = false});
  const auto first = FeatureExtraction::load(kFolder, {.normalization = false, .pooling = Pooling::cls});
  const Tensor a = mean.extract(texts).vectors, b = first.extract(texts).vectors;
  EXPECT_EQ(a.shape(), b.shape());
  EXPECT_NE(a.values<float>()[0], b.values<float>()[0]);
  // The first token's hidden state is what "cls" takes.
  const Encoding encoding = first.pipeline().tokenizer().encode(texts[0]);
  const std::vector<std::int64_t> ids(encoding.ids.begin(), encoding.ids.end());
  const NamedTensors outputs = first.forward(
      {{"input_ids", Tensor::from<std::int64_t>({1, static_cast<std::int64_t>(ids.size())}, std::span(ids))}});
  const Tensor& hidden = outputs.at("last_hidden_state");
  for (std::int64_t i = 0; i < hidden.extent(2); ++i)
    EXPECT_NEAR(hidden.values<float>()[static_cast<std::size_t>(i)], b.values<float>()[static_cast<std::size_t>(i)],
                1e-5);
}

}  // namespace
}  // namespace alate
