// RunControl in every call of the pipelines: stops, deadlines, progress.
#include "alate/run_control.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "alate/embedding.h"
#include "alate/feature_extraction.h"
#include "alate/inference_backend.h"
#include "alate/model.h"
#include "alate/rerank.h"
#include "alate/session.h"
#include "tests/source_folder.h"
#include "tests/unit/base/expect_error.h"

namespace alate {
namespace {

using Clock = std::chrono::steady_clock;
using Stage = Progress::Stage;

const std::filesystem::path kModel = source_folder() / "tests/golden/models/st_mean";

std::vector<std::string> many_texts(std::size_t count) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < count; ++i) texts.push_back("the cat sat " + std::string(i % 5 + 1, 'a'));
  return texts;
}

// Collects what is reported, and checks that it grows.
struct Watcher {
  std::vector<Progress> reports;
  std::thread::id thread;
  std::function<void(const Progress&)> then;

  RunControl control() {
    return {.progress = [this](const Progress& progress) {
      if (!reports.empty()) {
        EXPECT_EQ(progress.stage, reports.back().stage);
        EXPECT_EQ(progress.total, reports.back().total);
        EXPECT_GT(progress.done, reports.back().done);
      }
      EXPECT_LE(progress.done, progress.total);
      EXPECT_EQ(std::this_thread::get_id(), thread);
      reports.push_back(progress);
      if (then) then(progress);
    }};
  }
  Watcher() : thread(std::this_thread::get_id()) {}

  void expect_complete(Stage stage, std::uint64_t total) const {
    ASSERT_GE(reports.size(), 2U);
    EXPECT_EQ(reports.front().stage, stage);
    EXPECT_EQ(reports.front().done, 0U);
    EXPECT_EQ(reports.back().done, total);
    EXPECT_EQ(reports.back().total, total);
  }
};

// Each call of the library that computes, over four texts or rows.
struct Call {
  const char* name;
  std::function<void(const RunControl&)> make;
};

std::vector<Call> calls() {
  const std::vector<std::string> texts = many_texts(4);
  const EmbeddingPipeline embedding = EmbeddingPipeline::load(kModel);
  const FeatureExtraction features = FeatureExtraction::load(kModel);
  const NamedTensors inputs = {{"input_ids", Tensor::from<std::int64_t>({4, 3}, {1, 5, 2, 1, 6, 2, 1, 7, 2, 1, 8, 2})}};
  return {{"embed", [=](const RunControl& control) { (void)embedding.embed(texts, {}, control); }},
          {"embed_tokens",
           [=](const RunControl& control) {
             (void)embedding.embed_tokens(std::vector<std::vector<std::int32_t>>(4, {1, 5, 2}), {}, control);
           }},
          {"forward", [=](const RunControl& control) { (void)embedding.model().forward(inputs, control); }},
          {"extract", [=](const RunControl& control) { (void)features.extract(texts, control); }},
          {"extract_forward", [=](const RunControl& control) { (void)features.forward(inputs, control); }}};
}

// Each call that loads.
std::vector<Call> loads() {
  return {{"model", [](const RunControl& control) { (void)Model::load(kModel, {}, control); }},
          {"embedding", [](const RunControl& control) { (void)EmbeddingPipeline::load(kModel, {}, control); }},
          {"automatic_type",
           [](const RunControl& control) {
             (void)EmbeddingPipeline::load(kModel, {.load = {.dtype = ComputeType::automatic}}, control);
           }},
          {"read_completely",
           [](const RunControl& control) {
             (void)EmbeddingPipeline::load(kModel, {.load = {.map_files = false}}, control);
           }},
          {"reference",
           [](const RunControl& control) {
             (void)Model::load(kModel, {.backend = {.places = {BackendPlace::reference()}}}, control);
           }},
          {"features", [](const RunControl& control) { (void)FeatureExtraction::load(kModel, {}, control); }},
          {"backend", [](const RunControl& control) { (void)InferenceBackend("cpu").load(kModel, {}, control); }},
          {"session", [](const RunControl& control) { (void)SessionManager().load_model(kModel, {}, {}, control); }}};
}

std::vector<Call> all_calls() {
  std::vector<Call> all = calls();
  for (Call& load : loads()) all.push_back(std::move(load));
  return all;
}

TEST(RunControl, EveryCallThatComputesReportsItsTexts) {
  for (const Call& call : calls()) {
    SCOPED_TRACE(call.name);
    Watcher watcher;
    call.make(watcher.control());
    watcher.expect_complete(Stage::computing, 4);
  }
}

TEST(RunControl, EveryLoadReportsTheBytesOfItsWeights) {
  const std::uint64_t bytes = Model::load(kModel).facts().weight_bytes;
  for (const Call& load : loads()) {
    SCOPED_TRACE(load.name);
    Watcher watcher;
    load.make(watcher.control());
    watcher.expect_complete(Stage::loading, bytes);
  }
}

TEST(RunControl, ALoadReportsOneWeightAfterTheOther) {
  Watcher watcher;
  (void)Model::load(kModel, {.backend = {.places = {BackendPlace::cpu()}}}, watcher.control());
  EXPECT_GT(watcher.reports.size(), 5U);
}

TEST(RunControl, NothingBeginsAfterTheDeadline) {
  for (const Call& call : all_calls()) {
    SCOPED_TRACE(call.name);
    Watcher watcher;
    RunControl control = watcher.control();
    control.deadline = Clock::now();
    EXPECT_EQ(base::error_of([&] { call.make(control); }).code(), ErrorCode::deadline_exceeded);
    EXPECT_TRUE(watcher.reports.empty());
  }
}

TEST(RunControl, AStopOnAnotherThreadEndsEachCall) {
  for (const Call& call : all_calls()) {
    SCOPED_TRACE(call.name);
    std::stop_source source;
    Watcher watcher;
    watcher.then = [&](const Progress&) { std::thread([&] { source.request_stop(); }).join(); };
    RunControl control = watcher.control();
    control.stop = source.get_token();
    EXPECT_EQ(base::error_of([&] { call.make(control); }).code(), ErrorCode::cancelled);
    ASSERT_EQ(watcher.reports.size(), 1U);  // that none is done
    EXPECT_EQ(watcher.reports.front().done, 0U);
  }
}

TEST(RunControl, WhatProgressThrowsEndsEachCall) {
  for (const Call& call : all_calls()) {
    SCOPED_TRACE(call.name);
    Watcher watcher;
    watcher.then = [&](const Progress& progress) {
      if (progress.done > 0) throw std::range_error("enough");
    };
    EXPECT_THROW(call.make(watcher.control()), std::range_error);
    EXPECT_EQ(watcher.reports.size(), 2U);
  }
}

// An error of the library's type would look like a failure of a backend, which is no reason to try the next one.
TEST(RunControl, AnErrorThatProgressThrowsIsNoFailureOfTheBackend) {
  for (const Call& load : loads()) {
    SCOPED_TRACE(load.name);
    Watcher watcher;
    watcher.then = [&](const Progress& progress) {
      if (progress.done > 0) throw Error(ErrorCode::resource_exhausted, "of the caller");
    };
    EXPECT_EQ(base::error_of([&] { load.make(watcher.control()); }).message(), "of the caller");
    EXPECT_EQ(watcher.reports.size(), 2U);
  }
}

TEST(RunControl, AStopBetweenBatchesLeavesTheRestUncomputed) {
  const EmbeddingPipeline pipeline = EmbeddingPipeline::load(kModel);
  const std::vector<std::string> texts = many_texts(40);
  std::stop_source source;
  Watcher watcher;
  watcher.then = [&](const Progress& progress) {
    if (progress.done > 0) source.request_stop();
  };
  RunControl control = watcher.control();
  control.stop = source.get_token();
  const Error error = base::error_of([&] { (void)pipeline.embed(texts, {.batch_size = 10}, control); });
  EXPECT_EQ(error.code(), ErrorCode::cancelled);
  EXPECT_EQ(watcher.reports.back().done, 10U);
  // The next call is not affected.
  EXPECT_EQ(pipeline.embed(texts).vectors.extent(0), 40);
}

TEST(RunControl, ALoadThatWasStoppedHalfwayCanBeRepeated) {
  std::stop_source source;
  Watcher watcher;
  watcher.then = [&](const Progress& progress) {
    if (progress.done > progress.total / 4) source.request_stop();
  };
  RunControl control = watcher.control();
  control.stop = source.get_token();
  SessionManager sessions;
  EXPECT_EQ(base::error_of([&] { (void)sessions.load_model(kModel, {}, {}, control); }).code(), ErrorCode::cancelled);
  EXPECT_LT(watcher.reports.back().done, watcher.reports.back().total);
  EXPECT_TRUE(sessions.sessions().empty());
  EXPECT_EQ(sessions.load_model(kModel).backend, "cpu");
}

// A caller that waits for another's load neither suffers from that one's end nor has to wait for it.
TEST(RunControl, CallersOfASessionManagerEndApart) {
  SessionManager sessions;
  std::stop_source leaving;
  std::optional<ErrorCode> of_impatient;
  std::optional<SessionModel> of_patient;
  std::thread patient;
  Watcher watcher;
  watcher.then = [&](const Progress&) {
    // The load is under way, on this thread: others can only wait for it.
    std::thread([&] {
      const RunControl impatient{.deadline = Clock::now() + std::chrono::milliseconds(1)};
      of_impatient = base::error_of([&] { (void)sessions.load_model(kModel, {}, {}, impatient); }).code();
    }).join();
    patient = std::thread([&] { of_patient = sessions.load_model(kModel); });
    leaving.request_stop();
  };
  RunControl control = watcher.control();
  control.stop = leaving.get_token();
  EXPECT_EQ(base::error_of([&] { (void)sessions.load_model(kModel, {}, {}, control); }).code(), ErrorCode::cancelled);
  patient.join();
  EXPECT_EQ(of_impatient, ErrorCode::deadline_exceeded);
  ASSERT_TRUE(of_patient.has_value());
  EXPECT_EQ(of_patient->backend, "cpu");
}

}  // namespace
}  // namespace alate
