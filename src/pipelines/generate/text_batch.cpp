#include "pipelines/generate/text_batch.h"

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <utility>

#include "alate/error.h"
#include "generation/sampling/logprobs.h"
#include "tokenizers/encode.h"

namespace alate::pipelines {
namespace {

generation::Sampler sampler_of(const TextGenerator::State& model, const SamplingOptions& sampling,
                               const StoppingOptions& stopping, std::uint64_t index) {
  return {sampling,
          {.vocabulary_size = static_cast<std::size_t>(model.model.model.state().limits().vocabulary),
           .end_tokens = generation::end_tokens(stopping, model.end_tokens),
           .min_tokens = stopping.min_tokens,
           .dry_breakers = model.dry_breakers(sampling),
           .text = index}};
}

// What a call has been told and not heard yet.
class NewsQueue {
 public:
  void push(TextNews news) {
    {
      const std::lock_guard lock(mutex_);
      news_.push_back(std::move(news));
    }
    changed_.notify_one();
  }
  // Throws cancelled when the call is to end.
  TextNews next(const base::ControlledCall& call) {
    std::unique_lock<base::Mutex> lock(mutex_);
    const auto is_there = [&] { return !news_.empty(); };
    if (call.deadline()) {
      changed_.wait_until(lock, call.stop(), *call.deadline(), is_there);
    } else {
      changed_.wait(lock, call.stop(), is_there);
    }
    call.cancellation().check();
    TextNews news = std::move(news_.front());
    news_.pop_front();
    return news;
  }

 private:
  base::Mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<TextNews> news_;
};

}  // namespace

std::vector<std::int32_t> prompt_tokens(const TextGenerator::State& model, std::string_view prompt, bool with_special,
                                        base::Cancellation cancellation) {
  const EncodeOptions options{.add_special_tokens = with_special, .with_offsets = false, .with_tokens = false};
  return tokenizers::encode(model.model.tokenizer, prompt, options, cancellation).ids;
}

GrowingText::GrowingText(const TextGenerator::State& model, std::vector<std::int32_t> prompt,
                         const GenerationOptions& options, std::uint64_t index)
    : model_(model),
      decoder_(model.model.tokenizer, {.skip_special_tokens = true}),
      stopping_(model.config.within_lengths(options.stopping, static_cast<std::int64_t>(prompt.size()))),
      sampler_(sampler_of(model, options.sampling, stopping_, index)),
      ending_(stopping_, model.end_tokens),
      end_tokens_(generation::end_tokens(stopping_, model.end_tokens)),
      prompt_(std::move(prompt)),
      top_(static_cast<std::size_t>(options.sampling.logprobs.value_or(0))) {
  if (prompt_.empty())
    throw Error(ErrorCode::invalid_argument, "the prompt has no tokens: give a text to be continued");
  if (prompt_.size() >= model.context)
    throw make_error(ErrorCode::invalid_argument, "the prompt has ", prompt_.size(), " tokens, and the context of ",
                     model.context, " leaves no room for an answer: shorten it");
  sampler_.add_prompt(prompt_);
  result_.prompt_tokens = prompt_.size();
  result_.seed = sampler_.seed();
  if (const auto constraint = model.constraint(options, base::Cancellation::never())) constrained_.emplace(constraint);
  if (options.prompt_logprobs && options.sampling.logprobs) {
    for (const std::int32_t id : prompt_) result_.prompt.push_back({.id = id});
  }
  if (const auto reason = ending_.before_first()) {
    result_.finish = *reason;
    is_done_ = true;
  } else if (constrained_ && constrained_->is_over()) {
    result_.finish = FinishReason::end_of_sequence;
    is_done_ = true;
  }
}

runtime::StepJob GrowingText::job(const std::shared_ptr<GrowingText>& text, Shown shown) {
  runtime::StepJob job;
  job.prompt = std::move(text->prompt_);
  job.choose = [text, shown = std::move(shown)](std::span<const float> logits, std::size_t worker) {
    return text->choose(logits, worker, shown);
  };
  if (text->reads_prompt())
    job.read_prompt = [text](std::size_t place, std::span<const float> logits) { text->read_prompt(place, logits); };
  return job;
}

// The logits are of the token after this place of the prompt.
void GrowingText::read_prompt(std::size_t place, std::span<const float> logits) {
  const double sum = generation::log_sum(logits, weights_);
  if (!std::isfinite(sum))
    throw Error(ErrorCode::corrupt, "the model computes numbers that are not finite: its weights are damaged");
  GeneratedToken& token = result_.prompt[place + 1];
  token.logprob = static_cast<float>(static_cast<double>(logits[static_cast<std::size_t>(token.id)]) - sum);
  generation::top_logprobs(logits, sum, top_, ranks_, token.top);
}

std::optional<std::int32_t> GrowingText::choose(std::span<const float> logits, std::size_t worker, const Shown& shown) {
  std::vector<float>().swap(weights_);
  std::vector<generation::Rank>().swap(ranks_);
  if (is_done_) return std::nullopt;
  generation::SamplerWorkspace& workspace = model_.workspace(worker);
  const generation::TokenChoice choice = sampler_.choose(logits, workspace, allowed_tokens(workspace));
  if (result_.tokens.empty()) first_token_ = std::chrono::steady_clock::now();
  result_.tokens.push_back({choice.token, choice.logprob, {choice.top.begin(), choice.top.end()}});
  sampler_.accept(choice);
  std::string piece;
  std::optional<FinishReason> reason = ending_.add(choice.token, decoder_.push(choice.token), piece);
  result_.text += piece;
  if (!reason && result_.prompt_tokens + result_.tokens.size() >= model_.context) reason = FinishReason::length;
  if (constrained_ && (!reason || reason == FinishReason::length)) {
    constrained_->accept(choice.token);
    if (constrained_->is_over()) reason = FinishReason::end_of_sequence;
  }
  if (reason) {
    result_.finish = *reason;
    result_.stop_text = ending_.stop_text();
  }
  shown(result_.tokens.back(), std::move(piece));
  if (reason) return std::nullopt;
  return choice.token;
}

void GrowingText::show_special_tokens(std::span<const std::int32_t> tokens) {
  decoder_ = DecodeStream(model_.model.tokenizer,
                          {.skip_special_tokens = true, .shown_special_tokens = {tokens.begin(), tokens.end()}});
}

std::span<const std::uint32_t> GrowingText::allowed_tokens(generation::SamplerWorkspace& workspace) {
  if (!constrained_) return {};
  const std::shared_ptr<const generation::TokenMask> mask = constrained_->allowed();
  workspace.allowed.assign(mask->begin(), mask->end());
  if (constrained_->is_complete()) {
    for (const std::int32_t token : end_tokens_) {
      const auto at = static_cast<std::size_t>(token);
      if (at / 32 < workspace.allowed.size()) workspace.allowed[at / 32] |= 1U << at % 32;
    }
  } else if (std::ranges::all_of(workspace.allowed, [](std::uint32_t word) { return word == 0; })) {
    throw Error(ErrorCode::invalid_argument,
                "no token of the model continues the text as the format demands: its vocabulary lacks a character that "
                "must come next");
  }
  return workspace.allowed;
}

Generation GrowingText::finish(std::size_t cached, std::string& rest) {
  if (result_.stop_text.empty()) {
    ending_.finish(rest);
    rest += decoder_.finish();
  }
  result_.text += rest;
  result_.cached_tokens = cached;
  const auto now = std::chrono::steady_clock::now();
  result_.prompt_time = (result_.tokens.empty() ? now : first_token_) - began_;
  result_.token_time = result_.tokens.empty() ? std::chrono::nanoseconds() : now - first_token_;
  return std::move(result_);
}

void SentTexts::send(std::size_t index, const std::shared_ptr<GrowingText>& text, const TextTerms& terms, Told told) {
  if (text->is_done()) return told({.index = index, .done = runtime::StepResult()});
  const auto shared = std::make_shared<const Told>(std::move(told));
  runtime::StepJob job = GrowingText::job(text, [shared, index](GeneratedToken token, std::string piece) {
    (*shared)({.index = index, .token = std::move(token), .piece = std::move(piece)});
  });
  job.done = [shared, index](const runtime::StepResult& result) { (*shared)({.index = index, .done = result}); };
  job.client = terms.client;
  job.is_batch = terms.is_batch;
  job.first_token_by = terms.first_token_by;
  job.deadline = terms.deadline;
  {
    const std::lock_guard lock(mutex_);
    if (is_cancelled_) return;
    ids_.reserve(ids_.size() + 1);
  }
  const std::uint64_t id = steps_.submit(std::move(job));
  {
    const std::lock_guard lock(mutex_);
    if (!is_cancelled_) {
      ids_.push_back(id);
      return;
    }
  }
  steps_.cancel(id);
}

void SentTexts::cancel() {
  std::vector<std::uint64_t> ids;
  {
    const std::lock_guard lock(mutex_);
    is_cancelled_ = true;
    ids.swap(ids_);
  }
  for (const std::uint64_t id : ids) steps_.cancel(id);
}

std::vector<Generation> grow_texts(const TextGenerator::State& model,
                                   std::span<const std::shared_ptr<GrowingText>> texts, const TextListener& listener,
                                   const base::ControlledCall& call) {
  std::vector<Generation> results(texts.size());
  const auto queue = std::make_shared<NewsQueue>();  // the scheduler may still use it when the call ends early
  SentTexts sent(*model.steps);
  for (std::size_t i = 0; i < texts.size(); ++i)
    sent.send(i, texts[i], {}, [queue](TextNews news) { queue->push(std::move(news)); });
  for (std::size_t left = texts.size(); left > 0;) {
    const TextNews news = queue->next(call);
    if (!news.piece.empty() && listener.shown) listener.shown(news.index, news.piece);
    if (!news.done) continue;
    if (news.done->error) std::rethrow_exception(news.done->error);
    std::string rest;
    results[news.index] = texts[news.index]->finish(news.done->cached_tokens, rest);
    if (!rest.empty() && listener.shown) listener.shown(news.index, rest);
    if (listener.done) listener.done(news.index);
    --left;
  }
  return results;
}

Generation grow_text(const TextGenerator::State& model, std::vector<std::int32_t> prompt,
                     const GenerationOptions& options, const std::function<void(std::string_view)>& shown,
                     const base::ControlledCall& call) {
  const std::shared_ptr<GrowingText> texts[] = {
      std::make_shared<GrowingText>(model, std::move(prompt), options, std::uint64_t{0})};
  TextListener listener;
  if (shown) listener.shown = [&](std::size_t, std::string_view piece) { shown(piece); };
  return std::move(grow_texts(model, texts, listener, call).front());
}

}  // namespace alate::pipelines
