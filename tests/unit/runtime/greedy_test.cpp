// Steps of decoding: the tokens that transformers' greedy search gives (tests/golden/record_greedy.py), and the same
// bits however a text is cut.
#include "runtime/decoding/greedy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "alate/error.h"
#include "backends/registry.h"
#include "runtime/loading/loaded_model.h"
#include "tests/golden/golden_folder.h"
#include "tests/golden/recorded_greedy.h"
#include "tests/golden/tiny_weights.h"
#include "tests/unit/base/expect_error.h"
#include "tests/unit/base/temporary_folder.h"
#include "tests/unit/formats/gguf_of_model.h"

namespace alate::runtime {
namespace {

using tests::recorded_greedy;
using tests::RecordedGreedy;
using tests::write_greedy_model;
using Ids = tests::TokenIds;

// Rows of unequal length: even ones have their padding before the text.
NamedTensors padded(const std::vector<Ids>& rows) {
  std::size_t longest = 0;
  for (const Ids& row : rows) longest = std::max(longest, row.size());
  std::vector<std::int64_t> ids, mask;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t padding = longest - rows[i].size(), before = i % 2 == 0 ? padding : 0;
    for (std::size_t place = 0; place < longest; ++place) {
      const bool is_text = place >= before && place - before < rows[i].size();
      ids.push_back(is_text ? rows[i][place - before] : 0);
      mask.push_back(is_text ? 1 : 0);
    }
  }
  const std::vector<std::int64_t> extents = {static_cast<std::int64_t>(rows.size()),
                                             static_cast<std::int64_t>(longest)};
  return {{"input_ids", Tensor::from<std::int64_t>(extents, std::span(std::as_const(ids)))},
          {"attention_mask", Tensor::from<std::int64_t>(extents, std::span(std::as_const(mask)))}};
}

void expect_greedy(const Model& model, const RecordedGreedy& wanted) {
  const std::size_t count = wanted.ids[0].size();
  const Tensor found =
      greedy_ids(model.state(), padded(wanted.prompts), count, {.cancellation = base::Cancellation::never()});
  ASSERT_EQ(found.shape(),
            (Shape{DType::i64, {static_cast<std::int64_t>(wanted.prompts.size()), static_cast<std::int64_t>(count)}}));
  for (std::size_t row = 0; row < wanted.ids.size(); ++row) {
    const auto of_row = found.values<std::int64_t>().subspan(row * count, count);
    EXPECT_EQ(Ids(of_row.begin(), of_row.end()), wanted.ids[row]) << "prompt of " << wanted.prompts[row].size();
  }
}

class GreedyGolden : public testing::TestWithParam<std::tuple<std::size_t, std::string>> {};

TEST_P(GreedyGolden, EqualsTransformers) {
  const auto& [index, backend] = GetParam();
  const std::vector<backends::Device> devices = backends::get_backend(backend).devices();
  if (devices.empty() || devices[0].unusable) GTEST_SKIP() << backend << " is not installed here";
  const RecordedGreedy& wanted = recorded_greedy()[index];
  const base::TemporaryFolder folder;
  const Model model = Model::load(write_greedy_model(folder, wanted),
                                  {.backend = {.places = {BackendPlace(backend)}, .policy = BackendPolicy::strict}});
  ASSERT_EQ(model.facts().backend, backend);
  expect_greedy(model, wanted);
}

std::vector<std::size_t> all_recorded() {
  std::vector<std::size_t> indices(recorded_greedy().size());
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  return indices;
}

// Other runtimes take seconds for each: the architectures', and those that have ops which no other has.
std::vector<std::size_t> recorded_for_runtimes() {
  constexpr std::array<std::string_view, 5> kSettings = {"phi3_longrope_long", "ministral3", "smollm3_windows",
                                                         "granite", "gemma2"};
  std::vector<std::size_t> indices = all_recorded();
  std::erase_if(indices, [&](std::size_t i) {
    const RecordedGreedy& of = recorded_greedy()[i];
    return !of.weights.is_null() && std::ranges::find(kSettings, of.model) == kSettings.end();
  });
  return indices;
}

std::string name_of(const testing::TestParamInfo<GreedyGolden::ParamType>& each) {
  const auto& [index, backend] = each.param;
  return recorded_greedy()[index].model + std::to_string(index) + "_" + backend;
}

INSTANTIATE_TEST_SUITE_P(Models, GreedyGolden,
                         testing::Combine(testing::ValuesIn(all_recorded()), testing::Values("cpu", "reference")),
                         name_of);
INSTANTIATE_TEST_SUITE_P(ModelsOnRuntimes, GreedyGolden,
                         testing::Combine(testing::ValuesIn(recorded_for_runtimes()), testing::Values("onnx", "xla")),
                         name_of);

// From the metadata and tensors that llama.cpp's converter writes.
class GreedyGguf : public testing::TestWithParam<std::string> {};

TEST_P(GreedyGguf, EqualsTransformers) {
  const auto wanted = std::ranges::find(recorded_greedy(), GetParam(), &RecordedGreedy::model);
  ASSERT_NE(wanted, recorded_greedy().end());
  const base::TemporaryFolder folder;
  formats::GgufOfModel gguf(wanted->config, formats::stored_plain(tests::tiny_tensors(wanted->weights)));
  formats::GgufBytes header = gguf.header();
  gguf.add_family(header);
  expect_greedy(
      Model::load(folder.write("tiny.gguf", gguf.bytes(header)), {.backend = {.places = {BackendPlace::cpu()}}}),
      *wanted);
}

INSTANTIATE_TEST_SUITE_P(Models, GreedyGguf,
                         testing::Values("llama_biases", "llama_linear", "llama_yarn_factor", "ministral3", "phi3",
                                         "phi3_tied", "phi3_longrope", "phi3_longrope_long", "smollm3", "granite",
                                         "granite_biases", "gemma", "gemma2", "gemma3_linear"),
                         [](const auto& each) { return each.param; });

std::vector<float> run(const StepProgram& program, const std::vector<StepSequence>& sequences, CachePages& cache) {
  const Tensor logits = program.run(sequences, cache, {.cancellation = base::Cancellation::never()});
  return {logits.values<float>().begin(), logits.values<float>().end()};
}

// The logits after `ids`, computed in pieces of so many tokens.
std::vector<float> in_pieces(const StepProgram& program, std::span<const std::int32_t> ids, std::size_t piece) {
  Ids pages(StepProgram::pages_of(ids.size()));
  std::iota(pages.rbegin(), pages.rend(), 0);  // from the cache's end
  CachePages cache = program.make_cache(pages.size());
  std::vector<float> logits;
  for (std::size_t begin = 0; begin < ids.size(); begin += piece)
    logits = run(program,
                 {{.ids = ids.subspan(begin, std::min(piece, ids.size() - begin)),
                   .cached = begin,
                   .pages = pages,
                   .text = ids.size()}},
                 cache);
  return logits;
}

class Steps : public testing::Test {
 protected:
  base::TemporaryFolder folder_;
  const RecordedGreedy& recorded_ = recorded_greedy()[2];  // with a window
  const Model model_ =
      Model::load(write_greedy_model(folder_, recorded_), {.backend = {.places = {BackendPlace::cpu()}}});
  const std::shared_ptr<const StepProgram> program_ = model_.state().step_program();
};

// Of models with windows, positions of all kinds, and without.
class StepsOf : public testing::TestWithParam<std::size_t> {};

TEST_P(StepsOf, AModelGiveTheSameBitsHoweverATextIsCutAndWhoeverElseIsThere) {
  const RecordedGreedy& of = recorded_greedy()[GetParam()];
  const base::TemporaryFolder folder;
  const Model model = Model::load(write_greedy_model(folder, of), {.backend = {.places = {BackendPlace::cpu()}}});
  const std::shared_ptr<const StepProgram> program = model.state().step_program();
  const Ids text = of.prompts.back(), other = of.prompts[3], other_pages = {0}, own_pages = {3, 1};
  const std::vector<std::int64_t> wide(text.begin(), text.end());
  const NamedTensors forward = model.forward(
      {{"input_ids", Tensor::from<std::int64_t>({1, static_cast<std::int64_t>(wide.size())}, std::span(wide))}});
  const std::span<const float> all = forward.find("logits")->second.values<float>();
  const std::vector<float> whole(all.end() - static_cast<std::ptrdiff_t>(all.size() / text.size()), all.end());
  for (const std::size_t piece : {std::size_t{1}, std::size_t{3}, std::size_t{32}, std::size_t{33}, text.size()})
    EXPECT_EQ(in_pieces(*program, text, piece), whole) << "in pieces of " << piece;

  const std::size_t begin = 35;
  CachePages cache = program->make_cache(4);
  const std::span<const std::int32_t> ids(text);
  (void)run(*program, {{.ids = ids.first(begin), .cached = 0, .pages = own_pages, .text = ids.size()}}, cache);
  const std::vector<float> both = run(*program,
                                      {{.ids = other, .cached = 0, .pages = other_pages},
                                       {.ids = ids.subspan(begin), .cached = begin, .pages = own_pages}},
                                      cache);
  EXPECT_EQ(std::vector<float>(both.begin() + static_cast<std::ptrdiff_t>(whole.size()), both.end()), whole);
}

INSTANTIATE_TEST_SUITE_P(Models, StepsOf, testing::ValuesIn(all_recorded()), [](const auto& each) {
  return recorded_greedy()[each.param].model + std::to_string(each.param);
});

TEST_F(Steps, HaveTheSameBitsInPiecesOverACacheOfFewerBits) {
  const Ids text = recorded_.prompts.back();
  for (const DType type : {DType::f16, DType::bf16, DType::i8}) {
    const Model model =
        Model::load(model_.folder(), {.backend = {.places = {BackendPlace::cpu()}}, .cache_type = type});
    const std::shared_ptr<const StepProgram> program = model.state().step_program();
    for (const models::CacheSpec& spec : program->layout())
      EXPECT_EQ(spec.dtype, spec.name.ends_with(".scale") ? DType::f32 : type) << spec.name;
    for (const backends::AliasFacts& alias : program->facts().aliases) EXPECT_TRUE(alias.in_place) << alias.parameter;
    EXPECT_LE(2 * models::bytes_per_token(program->layout()), models::bytes_per_token(program_->layout()));
    const std::vector<float> whole = in_pieces(*program, text, text.size());
    for (const std::size_t piece : {1, 3, 32}) EXPECT_EQ(in_pieces(*program, text, piece), whole) << to_string(type);
    EXPECT_NE(whole, in_pieces(*program_, text, text.size())) << "rounding shows";
  }
  const Error error = base::error_of([&] { (void)Model::load(model_.folder(), {.cache_type = DType::i16}); });
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
  EXPECT_EQ(error.message(), "keys and values are kept as f32, f16, bf16 or i8, not as i16");
}

TEST_F(Steps, WriteTheCacheInPlace) {
  EXPECT_EQ(program_->layout().size(), program_->facts().aliases.size());
  for (const backends::AliasFacts& alias : program_->facts().aliases) EXPECT_TRUE(alias.in_place) << alias.parameter;
}

TEST_F(Steps, RefusePagesThatTheCacheDoesNotHave) {
  CachePages cache = program_->make_cache(2);
  const auto message = [&](const StepSequence& sequence) {
    return base::error_of([&] { (void)run(*program_, {sequence}, cache); }).message();
  };
  const Ids ids = {1, 2, 3}, outside = {2}, negative = {-1}, inside = {0}, none;
  EXPECT_EQ(message({.ids = ids, .cached = 0, .pages = outside}), "sequence 0 has the page 2 of a cache of 2");
  EXPECT_EQ(message({.ids = ids, .cached = 0, .pages = negative}), "sequence 0 has the page -1 of a cache of 2");
  EXPECT_EQ(message({.ids = ids, .cached = 30, .pages = inside}), "sequence 0 has 1 pages of 32 tokens for its 33");
  EXPECT_EQ(message({.ids = none, .cached = 0, .pages = inside}), "sequence 0 has no tokens");
}

TEST_F(Steps, RefuseTextsLongerThanTheModelsPositions) {
  const Error error = base::error_of([&] {
    (void)greedy_ids(model_.state(), padded({Ids(100, 1)}), 30, {.cancellation = base::Cancellation::never()});
  });
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_NE(error.message().find("row 0 has 100 tokens, which with 30 more"), std::string::npos) << error.message();
}

TEST_F(Steps, OfARowWithoutTokensAreZeros) {
  NamedTensors inputs = padded({Ids{1, 2}, Ids{}});
  const Tensor found = greedy_ids(model_.state(), inputs, 3, {.cancellation = base::Cancellation::never()});
  for (std::size_t i = 3; i < 6; ++i) EXPECT_EQ(found.values<std::int64_t>()[i], 0);
}

TEST(StepsOfOtherModels, AreRefusedByName) {
  const auto message = [](const std::string& name) {
    const base::TemporaryFolder folder;
    tests::write_tiny_model(tests::golden_folder("architectures/" + name), folder.path() / "model");
    const Model model = Model::load(folder.path() / "model", {.backend = {.places = {BackendPlace::cpu()}}});
    return base::error_of([&] { (void)model.state().step_program(); }).message();
  };
  EXPECT_NE(message("bert_pre_training").find("models of type bert are not decoded here"), std::string::npos);
  EXPECT_NE(message("llama_base").find("the model has no logits of a next token, as LlamaForCausalLM has"),
            std::string::npos);
}

}  // namespace
}  // namespace alate::runtime
