#include "alate/fill.h"

#include <algorithm>
#include <utility>

#include "alate/error.h"
#include "formats/json.h"
#include "pipelines/calls/special_tokens.h"
#include "pipelines/fill/fill_run.h"
#include "pipelines/tasks/task_head.h"
#include "tokenizers/encode.h"
#include "tokenizers/parts.h"

namespace alate {
namespace pipelines {
namespace {

// What a Fill takes, besides its text.
constexpr std::size_t kBytesBesideText = 128;

// The ids of the targets, each once, in their order.
std::vector<std::int32_t> target_ids(const FillPipeline::State& state, std::span<const std::string> targets,
                                     const base::Cancellation& cancellation) {
  const EncodeOptions alone{.add_special_tokens = false, .with_offsets = false, .with_tokens = false};
  std::vector<std::int32_t> ids;
  for (const std::string& target : targets) {
    std::optional<std::int32_t> id = state.tokenizer.token_to_id(target);
    if (!id) {
      const std::vector<std::int32_t> tokens = tokenizers::encode(state.tokenizer, target, alone, cancellation).ids;
      if (!tokens.empty()) id = tokens.front();
    }
    if (!id || *id < 0 || *id >= state.model.state().limits().vocabulary)
      throw make_error(ErrorCode::invalid_argument, "the target ", formats::quoted_name(target),
                       " is no token of the model; give a word");
    if (std::ranges::find(ids, *id) == ids.end()) ids.push_back(*id);
  }
  return ids;
}

void check(const FillOptions& options) {
  if (options.top_k < 1 || options.top_k > kMostFills)
    throw make_error(ErrorCode::invalid_argument, "top_k is ", options.top_k, "; ask for 1 to ", kMostFills,
                     " tokens of a mask");
  if (options.targets.size() > kMostFills)
    throw make_error(ErrorCode::invalid_argument, options.targets.size(), " targets are given; give at most ",
                     kMostFills);
  if (options.long_texts.treatment == LongTexts::windows)
    throw Error(ErrorCode::invalid_argument,
                "masks are filled in a text that is read at once, not in windows; let long texts be cut, cut at their "
                "beginning, or refused");
}

// Rows of all requests for so many tokens share batches.
std::shared_ptr<const FillProgram> program_of(const FillPipeline::State& state, std::size_t count,
                                              std::vector<std::int32_t> targets) {
  const Model::State& model = state.model.state();
  const auto make = [&] {
    return std::make_shared<const FillProgram>(task_entry_point(model, Task::fill), vocabulary_head(model),
                                               state.mask_id, count, targets);
  };
  if (!targets.empty()) return make();
  return std::static_pointer_cast<const FillProgram>(
      model.shared_program("fill " + std::to_string(count), [&] { return make(); }));
}

}  // namespace

FillPipeline filler_of(TextModel model) {
  task_entry_point(model.model.state(), Task::fill);
  const std::shared_ptr<const TokenizerSettings> settings = model.settings;
  const std::optional<SpecialToken> mask = mask_token(*settings, model.tokenizer);
  if (!mask || mask->id < 0 || mask->id >= model.model.state().limits().vocabulary)
    throw make_error(ErrorCode::unsupported, "the tokenizer of '", runtime::shown_name(model.model.folder()),
                     "' has no mask that the model knows: mask_token");
  FillPipeline::State state{std::move(model), mask->text, mask->id, std::nullopt, false};
  if (!settings->pad_token.empty()) state.pad_id = state.tokenizer.token_to_id(settings->pad_token);
  // transformers leaves the texts of byte-level tokens as they are.
  state.cleans_up_spaces = settings->cleans_up_spaces && !state.tokenizer.parts().model->reads_bytes();
  return FillPipeline(std::make_shared<FillPipeline::State>(std::move(state)));
}

FillRun::FillRun(FillPipeline pipeline, std::vector<std::string_view> texts, FillOptions options)
    : pipeline_(std::move(pipeline)), texts_(std::move(texts)), options_(std::move(options)), count_(texts_.size()) {
  check(options_);
}

void FillRun::choose_program(const base::Cancellation& cancellation) {
  const FillPipeline::State& state = pipeline_.state();
  std::vector<std::int32_t> targets = target_ids(state, options_.targets, cancellation);
  const std::size_t most =
      targets.empty() ? static_cast<std::size_t>(state.model.state().limits().vocabulary) : targets.size();
  tokens_of_mask_ = std::min(options_.top_k, most);
  program_ = program_of(state, tokens_of_mask_, std::move(targets));
}

std::string FillRun::excess() const { return excess_of(pipeline_.state(), options_.long_texts); }

TextRows FillRun::make_rows(const base::Cancellation& cancellation) {
  choose_program(cancellation);
  const std::vector<std::string_view> texts = std::exchange(texts_, {});
  const std::vector<EncodeInput> inputs(texts.begin(), texts.end());
  TextRows rows = make_text_rows(
      pipeline_.state(), inputs,
      {.long_texts = options_.long_texts, .details = RowDetails::ids, .budget = &token_budget()}, cancellation);
  double bytes = 0;
  for (std::size_t row = 0; row < rows.inputs.size(); ++row) {
    const auto masks = std::ranges::count(rows.encodings[row].ids, pipeline_.state().mask_id);
    const std::size_t bytes_of_fill = texts[rows.inputs[row]].size() + kBytesBesideText;
    bytes += static_cast<double>(masks) * static_cast<double>(tokens_of_mask_) * static_cast<double>(bytes_of_fill);
  }
  if (bytes > static_cast<double>(limits().answer_bytes))
    throw make_error(ErrorCode::invalid_argument, "the filled texts would take more than ", limits().answer_bytes,
                     " bytes; ask for fewer tokens of each mask, or give fewer or shorter texts");
  return rows;
}

std::vector<Fill> FillRun::fills_of(const std::vector<std::int32_t>& ids, std::size_t place, bool is_lone,
                                    const std::vector<ScoredToken>& tokens) {
  const FillPipeline::State& state = pipeline_.state();
  std::vector<Fill> fills;
  for (const ScoredToken& token : tokens) {
    std::vector<std::int32_t> filled = ids;
    filled[place] = token.id;
    if (state.pad_id) std::erase(filled, *state.pad_id);
    const auto decoded = [&](std::span<const std::int32_t> some, bool skips_special) {
      return state.tokenizer.decode(some,
                                    {.skip_special_tokens = skips_special, .clean_up_spaces = state.cleans_up_spaces});
    };
    // Other masks are special tokens, which stay where there are any.
    fills.push_back({token.id, decoded(std::span(&token.id, 1), false), token.score, decoded(filled, is_lone)});
    answer_budget().add(fills.back().token.size() + fills.back().text.size());
  }
  return fills;
}

void FillRun::take(const RowResults& results) {
  fills_.resize(count_);
  for (std::size_t row = 0; row < results.count(); ++row) {
    results.cancellation().check();
    const std::vector<std::int32_t>& ids = results.encoding(row).ids;
    const std::vector<std::vector<ScoredToken>> masks = program_->read(results.of(row));
    auto mask = masks.begin();
    for (std::size_t place = 0; place < ids.size() && mask != masks.end(); ++place) {
      if (ids[place] == pipeline_.state().mask_id)
        fills_[results.input(row)].push_back(fills_of(ids, place, masks.size() == 1, *mask++));
    }
  }
}

}  // namespace pipelines

FillPipeline FillPipeline::load(const std::filesystem::path& folder, const LoadOptions& options,
                                const RunControl& control) {
  return pipelines::filler_of(pipelines::load_text_model(folder, options, pipelines::Task::fill, control));
}

Fills FillPipeline::fill(std::span<const std::string> texts, const FillOptions& options,
                         const RunControl& control) const {
  return fill(std::vector<std::string_view>(texts.begin(), texts.end()), options, control);
}

Fills FillPipeline::fill(std::span<const std::string_view> texts, const FillOptions& options,
                         const RunControl& control) const {
  pipelines::FillRun run(*this, {texts.begin(), texts.end()}, options);
  pipelines::run_task(run, {.tokens = options.batch_tokens, .rows = options.batch_size}, control);
  return {.texts = std::move(run.fills()), .truncated = run.truncated(), .tokens = run.tokens()};
}

const std::string& FillPipeline::mask() const { return state_->mask; }
std::size_t FillPipeline::max_length() const { return state_->max_length; }
const Tokenizer& FillPipeline::tokenizer() const { return state_->tokenizer; }
const Model& FillPipeline::model() const { return state_->model; }
const ModelFacts& FillPipeline::facts() const { return state_->model.facts(); }

}  // namespace alate
