// Loading and unloading.
#include "server/models/model_host.h"

#include <array>
#include <atomic>
#include <latch>
#include <mutex>
#include <random>
#include <thread>

#include "base/files/mapped_file.h"
#include "model_host_testing.h"
#include "pipelines/embed/embedding_rows.h"
#include "pipelines/generate/generator_state.h"
#include "tests/golden/tiny_generators.h"
#include "tests/golden/tiny_rerankers.h"

namespace alate::server {
namespace {

using ModelHosting = ModelHostTest;
using std::chrono::nanoseconds;
using Names = std::vector<std::string>;

// The vectors of two short texts by the model's queue.
std::vector<float> computed(HostedModel& model, bool normalize) {
  const auto promise = std::make_shared<std::promise<runtime::BatchResult>>();
  runtime::BatchJob job;
  job.program = model.pipelines.embedding().state().entry_point(normalize);
  job.rows = {{.ids = {2, 10, 11, 3}}, {.ids = {2, 12, 3}}};
  job.done = [promise](runtime::BatchResult result) { promise->set_value(std::move(result)); };
  model.scheduler->submit(std::move(job));
  runtime::BatchResult result = promise->get_future().get();
  EXPECT_EQ(result.error, nullptr);
  return result.values;
}

TEST_F(ModelHosting, AHostedModelComputesWhatThePipelineDoes) {
  add("acme/mean");
  const auto model = acquire("acme/mean").model();
  EXPECT_EQ(model->name, "acme/mean");
  EXPECT_GT(model->load_time.count(), 0);
  const EmbeddingPipeline alone = EmbeddingPipeline::load(settings.models_dir / "acme/mean");
  const std::vector<std::vector<std::int32_t>> rows = {{2, 10, 11, 3}, {2, 12, 3}};
  for (const bool normalize : {false, true}) {
    EmbedOptions options;
    options.normalize = normalize;
    const Tensor wanted = alone.embed_tokens(rows, options).vectors;
    const auto values = wanted.values<float>();
    EXPECT_EQ(computed(*model, normalize), std::vector<float>(values.begin(), values.end()));
  }
}

TEST_F(ModelHosting, ManyRequestsLoadAModelOnce) {
  add("acme/mean");
  WorkQueue one(1);
  ModelHost own(settings, one, {});
  std::vector<std::future<std::shared_ptr<HostedModel>>> answers;
  {
    const Blockade blockade(one);
    for (int i = 0; i < 5; ++i) {
      auto promise = std::make_shared<std::promise<std::shared_ptr<HostedModel>>>();
      answers.push_back(promise->get_future());
      own.acquire(i % 2 == 0 ? "mean" : "acme/mean",
                  [promise](const std::shared_ptr<HostedModel>& model, const std::exception_ptr&) {
                    promise->set_value(model);
                  });
    }
    EXPECT_TRUE(own.loaded().empty());
  }
  const auto first = answers[0].get();
  ASSERT_NE(first, nullptr);
  for (std::size_t i = 1; i < answers.size(); ++i) EXPECT_EQ(answers[i].get(), first);
}

TEST_F(ModelHosting, ALoadedModelIsGivenAtOnceByAnyOfItsNames) {
  add("acme/mean");
  const auto model = acquire("acme/mean").model();
  for (const char* name : {"acme/mean", "mean", "mean:latest", "acme/mean:latest", "", "mean", ""}) {
    SCOPED_TRACE(name);
    Acquired again = acquire(name);
    ASSERT_TRUE(again.is_ready());
    EXPECT_EQ(again.model(), model);
  }
}

TEST_F(ModelHosting, AFailureIsToldToAllWhoWaitAndTriedAgain) {
  add("acme/mean");
  const auto config = settings.models_dir / "acme/mean/config.json";
  const auto kept = folder.path() / "config.json";
  std::filesystem::rename(config, kept);
  folder.write("models/acme/mean/config.json", R"({"model_type": "nothing we know"})");
  Acquired a = acquire("mean"), b = acquire("acme/mean");
  for (Acquired* each : {&a, &b}) {
    const Error error = each->error();
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    EXPECT_NE(error.message().find("\"acme/mean\""), std::string::npos) << error.message();
    expect_no_path(error);
  }
  std::filesystem::remove(settings.models_dir / "acme/mean/model.safetensors");
  std::filesystem::copy_file(kept, config, std::filesystem::copy_options::overwrite_existing);
  const Error error = acquire("mean").error();
  EXPECT_EQ(error.code(), ErrorCode::not_found);
  expect_no_path(error);
  std::filesystem::remove_all(settings.models_dir / "acme/mean");
  add("acme/mean");
  EXPECT_EQ(acquire("mean").model()->name, "acme/mean");
}

TEST_F(ModelHosting, TheLeastRecentlyUsedModelMakesRoom) {
  for (const char* name : {"a", "b", "c"}) add(name);
  settings.max_loaded_models = 2;
  acquire("a").model();
  acquire("b").model();
  acquire("a").model();
  acquire("c").model();
  EXPECT_EQ(loaded(), (Names{"a", "c"}));
}

TEST_F(ModelHosting, AModelThatNobodyUsesMakesRoomBeforeOneInUse) {
  for (const char* name : {"a", "b", "c"}) add(name);
  settings.max_loaded_models = 2;
  const auto held = acquire("a").model();
  acquire("b").model();
  acquire("c").model();
  EXPECT_EQ(loaded(), (Names{"a", "c"}));
}

TEST_F(ModelHosting, AModelInUseStaysAndSaysWhyAnotherDoesNotCome) {
  for (const char* name : {"a", "b"}) add(name);
  settings.max_loaded_models = 1;
  settings.request_timeout = std::chrono::milliseconds(40);
  auto held = acquire("a").model();
  const Error error = acquire("b").error();
  EXPECT_EQ(error.code(), ErrorCode::resource_exhausted);
  EXPECT_NE(error.message().find("in use (a)"), std::string::npos) << error.message();
  EXPECT_EQ(loaded(), (Names{"a"}));
  EXPECT_FALSE(computed(*held, false).empty());
  held.reset();
  EXPECT_EQ(acquire("b").model()->name, "b");
}

TEST_F(ModelHosting, AnotherModelComesOnceTheOneInUseIsNot) {
  for (const char* name : {"a", "b"}) add(name);
  settings.max_loaded_models = 1;
  auto held = acquire("a").model();
  Acquired other = acquire("b");
  held.reset();
  EXPECT_EQ(other.model()->name, "b");
  EXPECT_EQ(loaded(), (Names{"b"}));
}

TEST_F(ModelHosting, AFailureIsRememberedUntilTheFilesChange) {
  add("a");
  const auto config = settings.models_dir / "a/config.json";
  const std::string whole = base::read_text_file(config);
  folder.write("models/a/config.json", R"({"model_type": "nothing we know"})");
  acquire("a").error();
  acquire("a").error();
  const Error error = acquire("a").error();
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
  EXPECT_NE(error.message().find("tried again in "), std::string::npos) << error.message();
  folder.write("models/a/config.json", whole);
  EXPECT_EQ(acquire("a").model()->name, "a");
}

TEST_F(ModelHosting, AModelWhoseFilesHaveChangedIsLoadedAnewAndTheOldOneGoesOn) {
  add("a");
  const auto old = acquire("a").model();
  const std::vector<float> before = computed(*old, true);
  const auto config = settings.models_dir / "a/config.json";
  std::string text = base::read_text_file(config);
  folder.write("models/a/new.json", text + "\n");
  std::filesystem::rename(settings.models_dir / "a/new.json", config);
  while (host().loaded().empty() || host().loaded().front().model == old) {
    host().unload_idle();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(computed(*old, true), before);
  EXPECT_EQ(computed(*acquire("a").model(), true), before);
}

TEST_F(ModelHosting, AModelWhoseNewFilesWouldNotLoadStays) {
  add("a");
  const auto old = acquire("a").model();
  folder.write("models/a/config.json", R"({"model_type": "nothing we know"})");
  for (int i = 0; i < 5; ++i) {
    host().unload_idle();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  EXPECT_EQ(acquire("a").model(), old);
}

TEST_F(ModelHosting, ALanguageModelCountsWithItsCache) {
  tests::write_tiny_generator(settings.models_dir / "writer");
  settings.max_memory_mb = 16;
  const auto model = acquire("writer").model();
  EXPECT_EQ(model->pipelines.tasks(), std::vector{pipelines::Task::generate});
  EXPECT_GT(model->pipelines.cache_bytes(), 0U);
  EXPECT_LE(model->pipelines.cache_bytes(), std::size_t{4} << 20);
  EXPECT_EQ(host().loaded().front().bytes, model->bytes());
  EXPECT_GE(model->bytes(), model->pipelines.cache_bytes() + model->pipelines.weight_bytes());
}

TEST_F(ModelHosting, ALanguageModelWithTextsUnderWayIsBusy) {
  tests::write_tiny_generator(settings.models_dir / "writer");
  add("other");
  settings.max_loaded_models = 1;
  settings.keep_alive = std::chrono::nanoseconds(1);
  settings.request_timeout = std::chrono::milliseconds(40);
  auto begun = std::make_shared<std::promise<void>>();
  std::promise<void> go_on;
  {
    const auto model = acquire("writer").model();
    runtime::StepJob job;
    job.prompt = {1};
    job.choose = [begun, end = go_on.get_future().share()](std::span<const float>, std::size_t) {
      begun->set_value();
      end.wait();
      return std::optional<std::int32_t>();
    };
    model->generator().state().steps->submit(std::move(job));
  }
  begun->get_future().wait();
  host().unload_idle();
  EXPECT_EQ(acquire("other").error().code(), ErrorCode::resource_exhausted);
  EXPECT_EQ(loaded(), (Names{"writer"}));
  go_on.set_value();
  while (host().loaded().front().model->is_busy()) std::this_thread::yield();
  EXPECT_EQ(acquire("other").model()->name, "other");
}

TEST_F(ModelHosting, ABuiltinModelThatWasNotFetchedIsNotFetchedByARequest) {
  const Error error = acquire("builtin:smollm2").error();
  EXPECT_EQ(error.code(), ErrorCode::not_found);
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "home"));
}

TEST_F(ModelHosting, ModelsThatLoadAtOnceKeepToTheLimit) {
  for (const char* name : {"a", "b", "c"}) add(name);
  settings.max_loaded_models = 1;
  // Which comes first is open, and one that somebody holds makes no room for the others.
  std::array<std::promise<std::exception_ptr>, 3> answers;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    host().acquire(std::string(1, static_cast<char>('a' + i)),
                   [&answer = answers[i]](const std::shared_ptr<HostedModel>&, const std::exception_ptr& error) {
                     answer.set_value(error);
                   });
  }
  for (auto& answer : answers) EXPECT_EQ(answer.get_future().get(), nullptr);
  EXPECT_EQ(loaded().size(), 1u);
}

TEST_F(ModelHosting, AModelOverTheLimitOfMemoryIsRefusedByTheSizeOfItsFiles) {
  add("large");
  folder.write("models/large/model.safetensors", std::string(std::size_t{2} << 20, 'x'));
  add("small");
  settings.max_memory_mb = 1;
  const Error error = acquire("large").error();
  EXPECT_EQ(error.code(), ErrorCode::resource_exhausted);
  EXPECT_NE(error.message().find("1 MB"), std::string::npos) << error.message();
  EXPECT_EQ(acquire("small").model()->name, "small");
}

TEST_F(ModelHosting, UnloadingSaysWhetherItWasLoaded) {
  add("acme/mean");
  EXPECT_FALSE(host().unload("mean"));
  EXPECT_FALSE(host().unload("no such model"));
  const auto held = acquire("mean").model();
  EXPECT_TRUE(host().unload("mean:latest"));
  EXPECT_FALSE(host().unload("mean"));
  EXPECT_TRUE(loaded().empty());
  EXPECT_FALSE(computed(*held, false).empty());  // requests under way finish
  EXPECT_NE(acquire("mean").model(), held);
}

TEST_F(ModelHosting, AModelWhoseFolderHasGoneCanBeUnloaded) {
  add("acme/mean");
  acquire("mean").model();
  std::filesystem::remove_all(settings.models_dir / "acme");
  EXPECT_TRUE(host().unload("acme/mean"));
}

TEST_F(ModelHosting, TheLastHolderMayBeACallbackOfTheModelsOwnQueue) {
  add("mean");
  for (const bool host_is_gone : {false, true}) {
    auto model = acquire("mean").model();
    const std::weak_ptr<HostedModel> watched = model;
    std::promise<void> begun, go_on;
    runtime::BatchJob job;
    job.task = [&](const auto&) {
      begun.set_value();
      go_on.get_future().wait();
    };
    runtime::BatchScheduler& scheduler = *model->scheduler;
    job.done = [held = std::move(model)](const runtime::BatchResult&) {};
    scheduler.submit(std::move(job));
    begun.get_future().wait();
    if (host_is_gone) {
      end_host();
      loaders.stop();
    } else {
      EXPECT_TRUE(host().unload("mean"));
    }
    EXPECT_FALSE(watched.expired());
    go_on.set_value();
    while (!watched.expired()) std::this_thread::yield();
  }
}

TEST_F(ModelHosting, AnIdleModelIsUnloadedAfterItsTime) {
  add("mean");
  settings.keep_alive = nanoseconds(1);
  auto held = acquire("mean").model();
  host().unload_idle();
  EXPECT_EQ(loaded(), (Names{"mean"}));  // in use
  held.reset();
  host().unload_idle();
  EXPECT_TRUE(loaded().empty());
}

TEST_F(ModelHosting, AModelWithWorkIsNotIdle) {
  add("mean");
  settings.keep_alive = nanoseconds(1);
  std::promise<void> go_on;
  std::promise<void> done;
  {
    const auto model = acquire("mean").model();
    runtime::BatchJob job;
    job.task = [&](const auto&) { go_on.get_future().wait(); };
    job.done = [&](const runtime::BatchResult&) { done.set_value(); };
    model->scheduler->submit(std::move(job));
  }
  host().unload_idle();
  EXPECT_EQ(loaded(), (Names{"mean"}));
  go_on.set_value();
  done.get_future().wait();
  while (!loaded().empty()) host().unload_idle();  // a thread of the host may still use it for a moment
}

TEST_F(ModelHosting, KeepAliveOfZeroInTheSettingsIsForEver) {
  add("mean");
  settings.keep_alive = nanoseconds(0);
  acquire("mean").model();
  host().unload_idle();
  ASSERT_EQ(host().loaded().size(), 1u);
  EXPECT_FALSE(host().loaded()[0].expires.has_value());
}

TEST_F(ModelHosting, ARequestMayChangeHowLongAModelStays) {
  add("mean");
  settings.keep_alive = nanoseconds(1);
  settings.max_keep_alive = std::chrono::hours(2);
  host().touch(*acquire("mean").model(), nanoseconds(-1));
  host().unload_idle();
  ASSERT_EQ(loaded(), (Names{"mean"}));
  EXPECT_TRUE(host().loaded()[0].expires.has_value());
  host().touch(*acquire("mean").model());  // leaves it so
  host().unload_idle();
  ASSERT_EQ(loaded(), (Names{"mean"}));
  host().touch(*acquire("mean").model(), std::chrono::hours(1));
  host().unload_idle();
  ASSERT_EQ(loaded(), (Names{"mean"}));
  EXPECT_GT(host().loaded()[0].expires.value(), std::chrono::system_clock::now() + std::chrono::minutes(50));
  host().touch(*acquire("mean").model(), nanoseconds(0));
  while (!loaded().empty()) host().unload_idle();  // a thread of the host may still use it for a moment
}

TEST_F(ModelHosting, NoRequestKeepsAModelForLongerThanTheServerAllows) {
  using std::chrono::hours;
  using std::chrono::minutes;
  add("mean");
  settings.max_keep_alive = hours(1);
  const auto left = [this](nanoseconds asked) {
    host().touch(*acquire("mean").model(), asked);
    return host().loaded()[0].expires.value() - std::chrono::system_clock::now();
  };
  for (const nanoseconds asked : {nanoseconds(-1), nanoseconds(hours(10000))}) {
    EXPECT_LE(left(asked), hours(1) + minutes(1)) << asked.count();
    EXPECT_GT(left(asked), minutes(50)) << asked.count();
  }
  EXPECT_LE(left(minutes(2)), minutes(3));
  end_host();
  settings.keep_alive = hours(3);  // the server's own time is the larger one
  EXPECT_GT(left(nanoseconds(-1)), hours(2));
  end_host();
  settings.keep_alive = nanoseconds(0);  // for ever: then a request may say so too
  host().touch(*acquire("mean").model(), nanoseconds(-1));
  EXPECT_FALSE(host().loaded()[0].expires.has_value());
}

TEST_F(ModelHosting, NoRequestUnloadsAModelThatIsLoadedForGood) {
  add("mean");
  settings.model_strategies = {{"mean", LoadStrategy::eager}};
  settings.keep_alive = nanoseconds(1);
  host().touch(*acquire("mean").model(), nanoseconds(0));
  host().unload_idle();
  EXPECT_EQ(loaded(), (Names{"mean"}));
}

TEST_F(ModelHosting, TheLoadedAreListedWithTheirSize) {
  add("mean");
  const auto model = acquire("mean").model();
  const auto all = host().loaded();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].model, model);
  EXPECT_GE(all[0].bytes, 1000u);
  EXPECT_TRUE(all[0].expires.has_value());
}

TEST_F(ModelHosting, PreloadsInTheBackground) {
  for (const char* name : {"acme/a", "b", "c", "d"}) add(name);
  settings.preload = {"a", "nothing"};
  settings.default_model = "b";
  settings.model_strategies = {{"c", LoadStrategy::eager}, {"d", LoadStrategy::lazy}};
  settings.keep_alive = nanoseconds(1);
  EXPECT_FALSE(host().preloaded());
  host().preload();
  while (!host().preloaded()) std::this_thread::yield();
  EXPECT_EQ(loaded(), (Names{"acme/a", "b", "c"}));
  // The eager one is never idle for too long.
  while (loaded().size() > 1) host().unload_idle();
  host().unload_idle();
  EXPECT_EQ(loaded(), (Names{"c"}));
}

TEST_F(ModelHosting, RerankersAndChunkersFollowStrategiesAndManifests) {
  tests::write_tiny_reranker(settings.models_dir / "tiny/reranker");
  add("tiny/chunker");  // an embedder: what chunks by meaning
  for (const char* name : {"tiny/reranker", "tiny/chunker"})
    folder.write("models/" + std::string(name) + "/model_manifest.json", R"({"backends": ["reference"]})");
  settings.model_strategies = {{"tiny/reranker", LoadStrategy::eager}, {"tiny/chunker", LoadStrategy::eager}};
  settings.keep_alive = nanoseconds(1);
  host().preload();
  while (!host().preloaded()) std::this_thread::yield();
  host().unload_idle();
  EXPECT_EQ(loaded(), (Names{"tiny/chunker", "tiny/reranker"}));
  for (const auto& one : host().loaded()) EXPECT_EQ(one.model->pipelines.facts().backend, "reference");
}

TEST_F(ModelHosting, NothingToPreloadIsPreloaded) {
  host().preload();
  EXPECT_TRUE(host().preloaded());
}

TEST_F(ModelHosting, WhoWaitsWhenTheHostEndsIsTold) {
  add("mean");
  WorkQueue one(1);
  auto own = std::make_unique<ModelHost>(settings, one, runtime::BatchObserver{});
  std::promise<std::exception_ptr> told;
  {
    const Blockade blockade(one);
    own->acquire("mean", [&](const auto&, const std::exception_ptr& error) { told.set_value(error); });
    own.reset();
    const std::exception_ptr error = told.get_future().get();
    ASSERT_NE(error, nullptr);
    EXPECT_EQ(base::error_of([&] { std::rethrow_exception(error); }).code(), ErrorCode::unavailable);
  }
}

TEST_F(ModelHosting, TheBackendIsTheFirstOfTheConfiguredThatIsHere) {
  add("mean");
  settings.backend_priority = {"cuda", "reference", "go"};  // no build has cuda yet
  settings.policy = "allow";
  EXPECT_EQ(acquire("mean").model()->pipelines.facts().backend, "reference");
  const auto refusal = [&] { return base::error_of([&] { ModelHost(settings, loaders, {}); }).code(); };
  settings.policy = "strict";
  settings.backend_priority = {"cuda"};
  EXPECT_EQ(refusal(), ErrorCode::unavailable);
  settings.backend_priority = {"no such thing"};
  EXPECT_EQ(refusal(), ErrorCode::invalid_argument);
  settings.backend_priority.clear();
  settings.policy = "none";
  EXPECT_EQ(refusal(), ErrorCode::invalid_argument);
}

TEST_F(ModelHosting, ARequestChoosesTheBackend) {
  add("mean");
  settings.backend_priority = {"cpu", "reference"};
  const auto plain = acquire("mean").model();
  EXPECT_EQ(plain->pipelines.facts().backend, "cpu");
  EXPECT_EQ(acquire("mean", "go").model(), plain);  // it is there already
  EXPECT_EQ(acquire("mean", "cpu:cpu").model(), plain);
  const auto other = acquire("mean", "reference").model();
  EXPECT_EQ(other->pipelines.facts().backend, "reference");
  EXPECT_NE(other->pipelines.model().fingerprint(), plain->pipelines.model().fingerprint());
  EXPECT_EQ(acquire("mean", "reference").model(), other);
  EXPECT_EQ(acquire("mean").model(), plain);
  EXPECT_EQ(host().loaded().size(), 2u);
  EXPECT_EQ(acquire("mean", "no-such").error().code(), ErrorCode::invalid_argument);
  // Never another one in its place, and waiting will not help.
  const Error absent = acquire("mean", "cuda").error();
  EXPECT_EQ(absent.code(), ErrorCode::unsupported);
  EXPECT_NE(std::string(absent.what()).find("this build does not have it"), std::string::npos);
  EXPECT_EQ(acquire("mean", "cpu:gpu").error().code(), ErrorCode::unsupported);
  EXPECT_TRUE(host().unload("mean"));
  EXPECT_TRUE(host().loaded().empty());
}

TEST_F(ModelHosting, AllSpellingsOfADeviceAreOneCopyThatIsCounted) {
  add("mean");
  settings.backend_priority = {"cpu", "reference"};
  const auto first = acquire("mean", "reference").model();
  for (const char* spelling : {"reference:0", "reference:cpu", "reference", "reference:0"})
    EXPECT_EQ(acquire("mean", spelling).model(), first) << spelling;
  ASSERT_EQ(host().loaded().size(), 1u);
  EXPECT_GE(host().loaded()[0].bytes, std::filesystem::file_size(settings.models_dir / "mean/model.safetensors") / 2);
}

TEST_F(ModelHosting, WhatARequestNamedIsNotLoadedAgainForTheSettings) {
  add("mean");
  const auto named = acquire("mean", "cpu").model();
  EXPECT_EQ(acquire("mean").model(), named);
  EXPECT_EQ(acquire("mean", "go:0").model(), named);
  EXPECT_EQ(acquire("mean").model(), named);
  EXPECT_EQ(host().loaded().size(), 1u);
  EXPECT_TRUE(host().unload("mean"));
  EXPECT_EQ(acquire("mean").model()->name, "mean");
}

TEST_F(ModelHosting, ARequestNamesOnlyBackendsThatTheServerIsSetUpFor) {
  add("mean");
  const Error automatic = acquire("mean", "reference").error();
  EXPECT_EQ(automatic.code(), ErrorCode::unsupported);
  EXPECT_NE(std::string(automatic.what()).find("cpu, onnx, xla"), std::string::npos) << automatic.what();
  EXPECT_TRUE(host().loaded().empty());
  end_host();
  settings.backend_priority = {"reference:cpu"};
  EXPECT_EQ(acquire("mean", "cpu").error().code(), ErrorCode::unsupported);
  EXPECT_EQ(acquire("mean", "reference:1").error().code(), ErrorCode::unsupported);
  EXPECT_EQ(acquire("mean", "reference").model()->pipelines.facts().backend, "reference");
}

// With one loader, which is busy: unloading, and the answer to names that nobody knows, need none.
// One that asks for many models holds up nobody else: their loads come in turns, that of a model for which both wait in
// the first of them.
TEST_F(ModelHosting, LoadsTakeTurnsBetweenClients) {
  for (const char* name : {"m/a", "m/b", "m/c", "m/d", "m/e"}) add(name);
  const Asker greedy{.client = client_of_address("127.0.0.1")}, other{.client = client_of_address("127.0.0.2")};
  std::mutex mutex;
  std::vector<std::string> order;
  std::latch all(6);
  const auto ask = [&](const char* name, const Asker& asker) {
    host().acquire(
        name, {},
        [&](const std::shared_ptr<HostedModel>& model, const std::exception_ptr&) {
          {
            const std::lock_guard lock(mutex);
            order.push_back(model->name);
          }
          all.count_down();
        },
        asker);
  };
  const auto one = std::make_unique<Blockade>(loaders);
  {
    const Blockade second(loaders);
    for (const char* name : {"m/a", "m/b", "m/c", "m/d"}) ask(name, greedy);
    for (const char* name : {"m/e", "m/d"}) ask(name, other);
    while (loaders.counts().waiting < 6) std::this_thread::yield();  // names are looked up on a thread of its own
  }
  all.wait();
  EXPECT_EQ(order, (std::vector<std::string>{"m/a", "m/e", "m/b", "m/d", "m/d", "m/c"}));
}

TEST_F(ModelHosting, UnloadingAndUnknownNamesDoNotWaitForLoaders) {
  add("mean");
  settings.batch_max_wait = std::chrono::hours(1);
  WorkQueue one(1);
  ModelHost own(settings, one, {});
  std::promise<std::shared_ptr<HostedModel>> loaded_promise;
  own.acquire("mean", [&](const auto& model, const auto&) { loaded_promise.set_value(model); });
  auto model = loaded_promise.get_future().get();
  // Waits for more rows until its scheduler ends.
  std::promise<ErrorCode> ended;
  runtime::BatchJob job;
  job.rows = {{.ids = {2, 3}}};
  job.program = model->pipelines.embedding().state().entry_point(true);
  job.done = [&](const runtime::BatchResult& result) {
    ended.set_value(base::error_of([&] { std::rethrow_exception(result.error); }).code());
  };
  model->scheduler->submit(std::move(job));
  const Blockade blockade(one);
  std::promise<ErrorCode> told;
  own.acquire("nobody/nothing", [&](const auto&, const std::exception_ptr& error) {
    told.set_value(base::error_of([&] { std::rethrow_exception(error); }).code());
  });
  EXPECT_EQ(told.get_future().get(), ErrorCode::not_found);
  EXPECT_TRUE(own.unload("mean"));
  model.reset();
  EXPECT_EQ(ended.get_future().get(), ErrorCode::cancelled);
}

TEST_F(ModelHosting, UnknownNamesAreNotLookedUpOnTheDiskByWhoAsks) {
  for (int i = 0; i < 50; ++i) add("owner" + std::to_string(i) + "/mean");
  host();
  std::atomic<int> told = 0, told_here = 0;
  const std::thread::id here = std::this_thread::get_id();
  constexpr int kAsked = 2000;
  for (int i = 0; i < kAsked; ++i) {
    host().acquire("nobody/nothing" + std::to_string(i), [&](const auto&, const std::exception_ptr& error) {
      EXPECT_EQ(base::error_of([&] { std::rethrow_exception(error); }).code(), ErrorCode::not_found);
      if (std::this_thread::get_id() == here) ++told_here;
      ++told;
    });
  }
  while (told < kAsked) std::this_thread::yield();
  EXPECT_EQ(told_here, 0);
  // What can be no name needs no disk.
  bool at_once = false;
  host().acquire("../../etc/passwd", [&](const auto&, const auto&) { at_once = true; });
  EXPECT_TRUE(at_once);
}

TEST_F(ModelHosting, AModelThatComesLaterIsFound) {
  add("first");
  host();
  EXPECT_EQ(acquire("acme/mean").error().code(), ErrorCode::not_found);
  add("acme/mean");
  EXPECT_EQ(acquire("mean").model()->name, "acme/mean");
}

TEST_F(ModelHosting, OnceStoppedNoSchedulerCallsBack) {
  add("mean");
  std::atomic<int> ran = 0;
  auto own = std::make_unique<ModelHost>(
      settings, loaders,
      runtime::BatchObserver{.ran = [&](auto, auto, auto) { ++ran; }, .cache_hit = {}, .expired = {}});
  std::promise<std::shared_ptr<HostedModel>> promise;
  own->acquire("mean", [&](const auto& model, const auto&) { promise.set_value(model); });
  const auto held = promise.get_future().get();
  std::promise<void> begun;
  std::promise<ErrorCode> ended;
  runtime::BatchJob job;
  job.task = [&](base::Cancellation cancellation) {
    begun.set_value();
    while (!cancellation.is_requested()) std::this_thread::yield();
  };
  job.done = [&](const runtime::BatchResult& result) {
    ended.set_value(base::error_of([&] { std::rethrow_exception(result.error); }).code());
  };
  held->scheduler->submit(std::move(job));
  begun.get_future().wait();
  EXPECT_TRUE(own->unload("mean"));  // also one that only a request under way still holds
  own->stop();
  EXPECT_EQ(ended.get_future().get(), ErrorCode::cancelled);
  std::promise<ErrorCode> refused;
  own->acquire("mean", [&](const auto&, const std::exception_ptr& error) {
    refused.set_value(base::error_of([&] { std::rethrow_exception(error); }).code());
  });
  EXPECT_EQ(refused.get_future().get(), ErrorCode::unavailable);
}

// Meant for the thread sanitizer too.
TEST_F(ModelHosting, ManyThreadsAcquireUseAndUnload) {
  for (const char* name : {"a", "b", "c"}) add(name);
  settings.max_loaded_models = 2;
  settings.keep_alive = std::chrono::milliseconds(1);
  host();
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 4; ++i) {
    threads.emplace_back([this, i] {
      std::mt19937 random(i);
      for (int round = 0; round < 40; ++round) {
        const std::string name(1, static_cast<char>('a' + random() % 3));
        switch (random() % 6) {
          case 0: host().unload(name); break;
          case 1: host().unload_idle(); break;
          case 2: host().loaded(); break;
          default: {
            const auto model = acquire(name).model();
            ASSERT_NE(model, nullptr);
            EXPECT_EQ(model->name, name);
            host().touch(*model);
            EXPECT_FALSE(computed(*model, random() % 2 == 0).empty());
          }
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(loaded().size(), 2u);
}

}  // namespace
}  // namespace alate::server
