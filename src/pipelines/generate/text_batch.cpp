#include "pipelines/generate/text_batch.h"

#include <algorithm>
#include <utility>

#include "alate/error.h"
#include "tokenizers/encode.h"

namespace alate::pipelines {
namespace {

// Of a prompt, in one step; of all texts together about as many.
constexpr std::size_t kTokensAtATime = 512;
// That grow at the same time: each takes memory for its tokens.
constexpr std::size_t kMostTexts = 64;

// Whether keys of a text of `before` tokens serve when it has `now`.
bool keeps_keys(const TextGenerator::State& model, std::size_t before, std::size_t now) {
  return model.model.model.state().limits().keeps_keys(static_cast<std::int64_t>(before),
                                                       static_cast<std::int64_t>(now));
}

generation::Sampler sampler_of(const TextGenerator::State& model, const SamplingOptions& sampling,
                               const StoppingOptions& stopping, std::uint64_t index) {
  return {sampling,
          {.vocabulary_size = static_cast<std::size_t>(model.model.model.state().limits().vocabulary),
           .end_tokens = generation::end_tokens(stopping, model.end_tokens),
           .min_tokens = stopping.min_tokens,
           .dry_breakers = model.dry_breakers(sampling),
           .text = index}};
}

}  // namespace

std::vector<std::int32_t> prompt_tokens(const TextGenerator::State& model, std::string_view prompt, bool with_special,
                                        base::Cancellation cancellation) {
  const EncodeOptions options{.add_special_tokens = with_special, .with_offsets = false, .with_tokens = false};
  return tokenizers::encode(model.model.tokenizer, prompt, options, cancellation).ids;
}

GrowingText::GrowingText(const TextGenerator::State& model, std::vector<std::int32_t> prompt, CachedTokens cached,
                         const GenerationOptions& options, std::uint64_t index,
                         std::function<void(std::string_view)> shown)
    : model_(model),
      decoder_(model.model.tokenizer, {.skip_special_tokens = true}),
      stopping_(model.config.within_lengths(options.stopping, static_cast<std::int64_t>(prompt.size()))),
      sampler_(sampler_of(model, options.sampling, stopping_, index)),
      ending_(stopping_, model.end_tokens),
      shown_(std::move(shown)),
      ids_(std::move(prompt)),
      pages_(std::move(cached.pages)),
      context_(model.context) {
  if (ids_.empty()) throw Error(ErrorCode::invalid_argument, "the prompt has no tokens: give a text to be continued");
  if (ids_.size() >= context_)
    throw make_error(ErrorCode::invalid_argument, "the prompt has ", ids_.size(), " tokens, and the context of ",
                     context_, " leaves no room for an answer: shorten it");
  const auto [same, other] = std::ranges::mismatch(cached.ids, ids_);
  // The last token is computed, since its logits are asked for.
  cached_ = std::min(static_cast<std::size_t>(same - cached.ids.begin()), ids_.size() - 1);
  if (!keeps_keys(model, cached.text, ids_.size())) cached_ = 0;
  sampler_.add_prompt(ids_);
  result_.prompt_tokens = ids_.size();
  result_.cached_tokens = cached_;
  result_.seed = sampler_.seed();
  if (const auto reason = ending_.before_first()) {
    result_.finish = *reason;
    is_done_ = true;
  }
}

runtime::StepSequence GrowingText::step(std::size_t tokens, runtime::PageStore& store) {
  store.hold(pages_, cached_ + tokens);
  return {.ids = std::span(ids_).subspan(cached_, tokens), .cached = cached_, .pages = pages_, .text = ids_.size()};
}

void GrowingText::take(std::size_t tokens, std::span<const float> logits, generation::SamplerWorkspace& workspace) {
  cached_ += tokens;
  if (cached_ < ids_.size()) return;
  const generation::TokenChoice choice = sampler_.choose(logits, workspace);
  if (result_.tokens.empty()) first_token_ = std::chrono::steady_clock::now();
  result_.tokens.push_back({choice.token, choice.logprob, {choice.top.begin(), choice.top.end()}});
  sampler_.accept(choice);
  ids_.push_back(choice.token);
  if (!keeps_keys(model_, ids_.size() - 1, ids_.size())) cached_ = 0;
  std::string shown;
  std::optional<FinishReason> reason = ending_.add(choice.token, decoder_.push(choice.token), shown);
  show(shown);
  if (!reason && ids_.size() >= context_) reason = FinishReason::length;
  if (!reason) return;
  result_.finish = *reason;
  result_.stop_text = ending_.stop_text();
  is_done_ = true;
}

void GrowingText::show(std::string_view text) {
  if (text.empty()) return;
  result_.text += text;
  if (shown_) shown_(text);
}

Generation GrowingText::finish() {
  std::string rest;
  if (result_.stop_text.empty()) {
    ending_.finish(rest);
    rest += decoder_.finish();
  }
  show(rest);
  const auto now = std::chrono::steady_clock::now();
  result_.prompt_time = (result_.tokens.empty() ? now : first_token_) - began_;
  result_.token_time = result_.tokens.empty() ? std::chrono::nanoseconds() : now - first_token_;
  return std::move(result_);
}

CachedTokens GrowingText::release() {
  const std::size_t text = ids_.size();
  ids_.resize(cached_);
  return {.ids = std::move(ids_), .pages = std::move(pages_), .text = text};
}

void grow_texts(const TextGenerator::State& model, std::span<GrowingText* const> texts, runtime::PageStore& store,
                base::Cancellation cancellation) {
  generation::SamplerWorkspace workspace;
  std::size_t next = 0;
  std::vector<GrowingText*> active;
  const auto admit = [&] {
    std::erase_if(active, [](const GrowingText* text) { return text->is_done(); });
    for (; next < texts.size() && active.size() < kMostTexts; ++next) {
      if (!texts[next]->is_done()) active.push_back(texts[next]);
    }
  };
  for (admit(); !active.empty(); admit()) {
    std::vector<runtime::StepSequence> sequences;
    std::vector<std::size_t> counts;
    std::size_t left = kTokensAtATime;
    for (GrowingText* text : active) {
      counts.push_back(text->next_tokens(std::max<std::size_t>(left, 1)));
      left -= std::min(left, counts.back());
    }
    // All pages are held before any of them is read: a cache that grows moves.
    for (std::size_t i = 0; i < active.size(); ++i) sequences.push_back(active[i]->step(counts[i], store));
    const Tensor logits = model.program->run(sequences, store.cache(), {.cancellation = cancellation});
    const auto width = static_cast<std::size_t>(logits.extent(1));
    for (std::size_t i = 0; i < active.size(); ++i)
      active[i]->take(counts[i], logits.values<float>().subspan(i * width, width), workspace);
  }
}

}  // namespace alate::pipelines
