#include "pipelines/generate/text_batch.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <utility>

#include "alate/error.h"
#include "base/threads/mutex.h"
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

// What the scheduler's thread tells a call: pieces of texts, and texts that are done.
struct TextNews {
  std::size_t index = 0;
  std::string piece = {};
  std::optional<runtime::StepResult> done = {};
};

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

// Jobs that are cancelled when the call that sent them ends.
class SentJobs {
 public:
  explicit SentJobs(runtime::StepScheduler& steps) : steps_(steps) {}
  SentJobs(const SentJobs&) = delete;
  SentJobs& operator=(const SentJobs&) = delete;
  ~SentJobs() {
    for (const std::uint64_t id : ids_) steps_.cancel(id);
  }
  void send(runtime::StepJob job) {
    ids_.push_back(0);
    ids_.back() = steps_.submit(std::move(job));
  }

 private:
  runtime::StepScheduler& steps_;
  std::vector<std::uint64_t> ids_;
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
      prompt_(std::move(prompt)) {
  if (prompt_.empty())
    throw Error(ErrorCode::invalid_argument, "the prompt has no tokens: give a text to be continued");
  if (prompt_.size() >= model.context)
    throw make_error(ErrorCode::invalid_argument, "the prompt has ", prompt_.size(), " tokens, and the context of ",
                     model.context, " leaves no room for an answer: shorten it");
  sampler_.add_prompt(prompt_);
  result_.prompt_tokens = prompt_.size();
  result_.seed = sampler_.seed();
  if (const auto constraint = model.constraint(options, base::Cancellation::never())) constrained_.emplace(constraint);
  if (const auto reason = ending_.before_first()) {
    result_.finish = *reason;
    is_done_ = true;
  } else if (constrained_ && constrained_->is_over()) {
    result_.finish = FinishReason::end_of_sequence;
    is_done_ = true;
  }
}

runtime::StepJob GrowingText::job(const std::shared_ptr<GrowingText>& text, std::function<void(std::string)> shown) {
  runtime::StepJob job;
  job.prompt = std::move(text->prompt_);
  job.choose = [text, shown = std::move(shown)](std::span<const float> logits, std::size_t worker) {
    std::string piece;
    const std::optional<std::int32_t> token = text->choose(logits, worker, piece);
    if (!piece.empty()) shown(std::move(piece));
    return token;
  };
  return job;
}

std::optional<std::int32_t> GrowingText::choose(std::span<const float> logits, std::size_t worker, std::string& shown) {
  generation::SamplerWorkspace& workspace = model_.workspace(worker);
  const generation::TokenChoice choice = sampler_.choose(logits, workspace, allowed_tokens(workspace));
  if (result_.tokens.empty()) first_token_ = std::chrono::steady_clock::now();
  result_.tokens.push_back({choice.token, choice.logprob, {choice.top.begin(), choice.top.end()}});
  sampler_.accept(choice);
  std::optional<FinishReason> reason = ending_.add(choice.token, decoder_.push(choice.token), shown);
  result_.text += shown;
  if (!reason && result_.prompt_tokens + result_.tokens.size() >= model_.context) reason = FinishReason::length;
  if (constrained_ && (!reason || reason == FinishReason::length)) {
    constrained_->accept(choice.token);
    // Nothing more may follow: the model need not say so.
    if (constrained_->is_over()) reason = FinishReason::end_of_sequence;
  }
  if (!reason) return choice.token;
  result_.finish = *reason;
  result_.stop_text = ending_.stop_text();
  return std::nullopt;
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

std::vector<Generation> grow_texts(const TextGenerator::State& model,
                                   std::span<const std::shared_ptr<GrowingText>> texts, const TextListener& listener,
                                   const base::ControlledCall& call) {
  std::vector<Generation> results(texts.size());
  const auto finish = [&](std::size_t index, std::size_t cached) {
    std::string rest;
    results[index] = texts[index]->finish(cached, rest);
    if (!rest.empty() && listener.shown) listener.shown(index, rest);
    if (listener.done) listener.done(index);
  };
  const auto queue = std::make_shared<NewsQueue>();  // the scheduler may still use it when the call ends early
  SentJobs jobs(*model.steps);
  std::size_t left = 0;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (texts[i]->is_done()) {
      finish(i, 0);
      continue;
    }
    runtime::StepJob job = GrowingText::job(
        texts[i], [queue, i](std::string piece) { queue->push({.index = i, .piece = std::move(piece)}); });
    job.done = [queue, i](const runtime::StepResult& result) { queue->push({.index = i, .done = result}); };
    jobs.send(std::move(job));
    ++left;
  }
  while (left > 0) {
    const TextNews news = queue->next(call);
    if (!news.piece.empty() && listener.shown) listener.shown(news.index, news.piece);
    if (!news.done) continue;
    if (news.done->error) std::rethrow_exception(news.done->error);
    finish(news.index, news.done->cached_tokens);
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
