#include <memory>
#include <string>
#include <utility>

#include "alate/error.h"
#include "base/log.h"
#include "base/threads/controlled_call.h"
#include "pipelines/generate/text_batch.h"

namespace alate {
namespace pipelines {
namespace {

// Where a model says nothing of how tokens are chosen, its own distribution strays too far for a small one. The numbers
// are llama.cpp's.
SamplingOptions sampling_of(const generation::GenerationConfig& config) {
  SamplingOptions sampling = config.sampling;
  if (config.states_sampling) return sampling;
  sampling.temperature = 0.8;
  sampling.top_k = 40;
  sampling.top_p = 0.95;
  sampling.min_p = 0.05;
  return sampling;
}

void warn_of_keys(const generation::GenerationConfig& config, const std::filesystem::path& folder) {
  for (const std::string& key : config.without_effect)
    base::log(base::LogLevel::warn, "generation_config.json asks for what has no effect here",
              {{"model", runtime::shown_name(folder)}, {"key", key}});
}

// The context is the model's, unless memory holds less.
void choose_context(TextGenerator::State& state, const runtime::StepProgram& program) {
  const auto positions = static_cast<std::size_t>(program.limits().positions);
  state.context = program.bound().context;
  if (state.context >= positions) return;
  const std::string name = runtime::shown_name(state.model.files.folder);
  base::log(base::LogLevel::warn, "the context is shorter than the model's, for lack of memory",
            {{"model", name}, {"context", std::to_string(state.context)}, {"of_model", std::to_string(positions)}},
            name + " has a context of " + std::to_string(state.context) + " tokens instead of its " +
                std::to_string(positions) + ": memory holds no more");
}

}  // namespace
}  // namespace pipelines

std::shared_ptr<const generation::DryBreakers> TextGenerator::State::dry_breakers(
    const SamplingOptions& options) const {
  if (options.dry_multiplier == 0 || options.dry_sequence_breakers.empty()) return nullptr;
  const std::lock_guard lock(breakers_mutex_);
  if (breakers_ == nullptr || breaker_texts_ != options.dry_sequence_breakers) {
    breakers_ = std::make_shared<const generation::DryBreakers>(
        options.dry_sequence_breakers, static_cast<std::size_t>(model.model.state().limits().vocabulary),
        model.tokenizer);
    breaker_texts_ = options.dry_sequence_breakers;
  }
  return breakers_;
}

std::shared_ptr<const pipelines::ChatDialect> TextGenerator::State::dialect() const {
  const std::lock_guard lock(dialect_mutex_);
  if (dialect_ == nullptr)
    dialect_ = std::make_shared<const pipelines::ChatDialect>(ChatTemplate::load(template_source));
  return dialect_;
}

std::shared_ptr<const generation::Vocabulary> TextGenerator::State::vocabulary() const {
  const std::vector<std::string> texts = generation::token_texts(
      model.tokenizer, static_cast<std::size_t>(model.model.state().limits().vocabulary), end_tokens);
  return std::make_shared<const generation::Vocabulary>(texts, generation::drops_first_space(model.tokenizer, texts));
}

std::shared_ptr<generation::Constraint> TextGenerator::State::constraint(const GenerationOptions& options,
                                                                         base::Cancellation cancellation) const {
  return options.grammar != nullptr ? constraints_.of(options.grammar) : constraints_.of(options.format, cancellation);
}

TextGenerator pipelines::load_generator(const std::filesystem::path& folder, const runtime::LoadRequest& request,
                                        const RunControl& control) {
  const auto compile = [](const Model::State& on, const std::shared_future<Tokenizer>&,
                          const std::shared_ptr<const ScoreModules>&) { on.step_program(); };
  auto state = std::make_shared<TextGenerator::State>(load_text_model(
      folder, request,
      {.noun = "a language model", .require = [](const Model::State&, const ScoreModules*) {}, .compile = compile},
      control));
  const Model::State& model = state->model.model.state();
  const std::shared_ptr<const runtime::StepProgram> program = model.step_program();
  const runtime::ModelFiles& files = state->model.files;
  state->template_source = files.tokenizer();
  // A GGUF that is all of its model says itself what there is to say; files beside it may be another model's.
  if (files.tokenizer() == files.folder) state->config = generation::read_generation_config(files.folder);
  warn_of_keys(state->config, files.folder);
  state->defaults = {.sampling = sampling_of(state->config), .stopping = state->config.stopping};
  state->end_tokens = state->config.end_tokens;
  if (state->end_tokens.empty()) state->end_tokens = generation::read_end_tokens(model.config, "config.json");
  choose_context(*state, *program);
  const bool shares_cores = model.facts.backend == "cpu";
  state->steps = std::make_unique<runtime::StepScheduler>(program, runtime::loop_options(*program),
                                                          shares_cores ? request.turns : nullptr);
  return TextGenerator(std::move(state));
}

TextGenerator TextGenerator::load(const std::filesystem::path& folder, const LoadOptions& options,
                                  const RunControl& control) {
  return pipelines::load_generator(folder, options, control);
}

Generation TextGenerator::generate(std::string_view prompt, const GenerationOptions& options,
                                   const std::function<void(std::string_view)>& shown,
                                   const RunControl& control) const {
  return base::run_controlled(control, [&](const base::ControlledCall& call) {
    return pipelines::grow_text(
        *state_, pipelines::prompt_tokens(*state_, prompt, options.add_special_tokens, call.cancellation()), options,
        shown, call);
  });
}

std::vector<Generation> TextGenerator::generate(std::span<const std::string_view> prompts,
                                                const GenerationOptions& options, const RunControl& control) const {
  return base::run_controlled(control, [&](const base::ControlledCall& call) {
    const auto computed = call.computed_of(prompts.size());
    std::vector<std::shared_ptr<pipelines::GrowingText>> texts;
    for (std::size_t i = 0; i < prompts.size(); ++i) {
      try {
        texts.push_back(std::make_shared<pipelines::GrowingText>(
            *state_, pipelines::prompt_tokens(*state_, prompts[i], options.add_special_tokens, call.cancellation()),
            options, i));
      } catch (const Error& error) {
        if (error.code() == ErrorCode::cancelled) throw;
        throw make_error(error.code(), "prompt ", i, ": ", error.message());
      }
    }
    pipelines::TextListener listener;
    if (computed) listener.done = [&](std::size_t) { computed(1); };
    return pipelines::grow_texts(*state_, texts, listener, call);
  });
}

const GenerationOptions& TextGenerator::defaults() const { return state_->defaults; }
std::size_t TextGenerator::context() const { return state_->context; }
const Tokenizer& TextGenerator::tokenizer() const { return state_->model.tokenizer; }
const Model& TextGenerator::model() const { return state_->model.model; }

}  // namespace alate
