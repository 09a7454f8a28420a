#include "server/models/generation_call.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "base/log.h"
#include "base/threads/mutex.h"
#include "pipelines/generate/answer_syntax.h"
#include "pipelines/generate/best_texts.h"
#include "pipelines/generate/generator_state.h"
#include "pipelines/generate/text_batch.h"
#include "server/exchange/refuse.h"
#include "server/metrics/model_statistics.h"
#include "server/models/hosted_call.h"
#include "server/models/live_answers.h"
#include "server/models/streamed_texts.h"
#include "server/models/touch_model.h"

namespace alate::server {
namespace {

using pipelines::AnswerPiece;
using pipelines::GrowingText;
using pipelines::TextNews;

// What a text holds besides its tokens.
constexpr std::size_t kTextBytes = std::size_t{4} << 10;
// By which a request's account grows.
constexpr std::size_t kChargedAtOnce = std::size_t{64} << 10;

std::size_t bytes_of(const GeneratedToken& token) {
  return sizeof(GeneratedToken) + token.top.size() * sizeof(TokenLogprob);
}

/// Texts on their way, and what they need. Goes when the last text is done, so that a client that reads slowly does not
/// keep the model.
struct Growth {
  explicit Growth(std::shared_ptr<HostedModel> of) : model(std::move(of)), sent(*model->generator().state().steps) {}

  const std::shared_ptr<HostedModel> model;
  std::shared_ptr<void> place;  // of the prompts, among all that wait
  std::vector<std::shared_ptr<GrowingText>> texts;
  pipelines::SentTexts sent;  // the first to go
};

Clock::time_point end_of_stream(const Settings& settings, Clock::time_point now) {
  const auto limit = settings.generation_timeout;
  return limit == std::chrono::nanoseconds(0) ? Clock::time_point::max() : now + limit;
}

struct TextState {
  std::optional<pipelines::AnswerParser> parser;  // of streams
  MadeText made;
};

/// The steps tell news at any time and on many threads. Who finds nobody at work with them works on them, and on all
/// that come meanwhile: what follows happens in turn, on one thread at a time, and nobody waits for it.
class GenerationCall final : public HostedCall, public LiveAnswer {
 public:
  GenerationCall(Call& call, GenerationRequest request, std::unique_ptr<GenerationAnswer> answer)
      : HostedCall(call), request_(std::move(request)), answer_(std::move(answer)) {}

  void start();
  void tick(Clock::time_point now) override {
    tell([&](Turn& next) { next.ticked = now; });
  }

 private:
  using GrowthPtr = std::shared_ptr<Growth>;

  /// What has happened since the last one.
  struct Turn {
    std::vector<TextNews> news = {};
    std::exception_ptr failure = {};
    std::optional<Clock::time_point> ticked = {};
    bool has_room = false;

    bool is_empty() const { return news.empty() && failure == nullptr && !ticked && !has_room; }
  };

  std::shared_ptr<GenerationCall> self() { return std::static_pointer_cast<GenerationCall>(shared_from_this()); }

  // On the work queue.
  void begin(std::shared_ptr<HostedModel> model);
  void check(const TextGenerator& generator);
  template <typename Limit>
  void limited(std::string_view reason, const Limit& limit);
  void make_texts(Growth& growth);
  void send_texts(const GrowthPtr& growth);
  void reply();
  std::vector<MadeText> chosen_texts();

  // From any thread, without waiting.
  template <typename Add>
  void tell(const Add& add);
  void told(TextNews news);
  void failed(const std::exception_ptr& error) override {
    tell([&](Turn& next) { next.failure = error; });
  }
  void leave();
  GrowthPtr take_growth();

  // In turn.
  void attend();
  void take(Turn& turn);
  void take_news(Growth& growth, TextNews& news);
  void take_text(std::size_t index, std::string_view text);
  void take_pieces(std::size_t index, const std::vector<AnswerPiece>& pieces);
  void finish_text(Growth& growth, const TextNews& news);
  void charge();
  void begin_stream(const HostedModel& model);
  void end_texts(const HostedModel& model);
  void give_up(const std::exception_ptr& error) noexcept;
  Headers headers() const;

  GenerationRequest request_;
  const std::unique_ptr<GenerationAnswer> answer_;

  // Written before the texts are sent.
  WantedTexts wanted_;
  std::size_t made_ = 0;                   // texts of a prompt
  std::vector<std::string> prompt_texts_;  // with which texts begin
  std::string fingerprint_;
  Clock::time_point sent_at_;
  std::vector<Clock::time_point> last_token_;  // of each text, which the steps tell about one after the other

  base::Mutex mutex_;
  GrowthPtr growth_;  // guarded by the mutex, as the following; null once all are done or nobody waits
  Turn next_;
  bool is_attended_ = false;

  // In turn.
  std::vector<TextState> texts_;
  std::optional<StreamedTexts> stream_;  // of requests that stream
  GenerationTotals totals_;
  ByteCharge charge_;
  std::size_t held_ = 0;  // bytes
  std::size_t left_ = 0;  // texts that are not done
  std::chrono::nanoseconds queue_{};
  std::optional<Clock::time_point> first_token_;
};

void GenerationCall::start() {
  if (request_.purpose.tasks.empty()) request_.purpose.tasks = {pipelines::Task::generate};
  limited("requests_per_minute", [&] { services_.quota.count_request(exchange_->client_id, Clock::now()); });
  acquire(request_, [this](std::shared_ptr<HostedModel> model, std::chrono::nanoseconds load) {
    totals_.load = load;
    begin(std::move(model));
  });
}

void GenerationCall::begin(std::shared_ptr<HostedModel> model) {
  touch_model(*exchange_, services_.models, *model, request_.keep_alive);
  const TextGenerator& generator = model->generator();
  const Clock::time_point since = Clock::now();
  wanted_ = request_.prepare(generator, exchange_->cancellation());
  exchange_->stages.tokenize += Clock::now() - since;
  check(generator);
  count_request(*exchange_, model->statistics, wanted_.prompts.size() * made_);
  fingerprint_ = to_string(model->pipelines.fingerprint());
  const auto growth = std::make_shared<Growth>(std::move(model));
  const std::size_t tokens = totals_.prompt_tokens;
  limited("queue_tokens", [&] { growth->place = services_.quota.hold_prompts(exchange_->client_id, tokens); });
  limited("tokens_per_minute", [&] { services_.quota.count_prompts(exchange_->client_id, tokens, Clock::now()); });
  for (Headers::Entry& header : services_.quota.headers(exchange_->client_id, Clock::now()))
    exchange_->answer_headers.push_back(std::move(header));
  make_texts(*growth);
  send_texts(growth);
}

// What a limit refuses is counted, and tells the client where it stands.
template <typename Limit>
void GenerationCall::limited(std::string_view reason, const Limit& limit) {
  try {
    limit();
  } catch (const RequestError&) {
    services_.metrics.rejected(reason);
    for (Headers::Entry& header : services_.quota.headers(exchange_->client_id, Clock::now()))
      exchange_->answer_headers.push_back(std::move(header));
    throw;
  }
}

void GenerationCall::check(const TextGenerator& generator) {
  const std::vector<pipelines::TextPrompt>& prompts = wanted_.prompts;
  const std::string& parameter = request_.parameter;
  made_ = pipelines::made_texts(wanted_.counts);
  if (prompts.empty()) refuse(Problem::Kind::invalid, parameter + " is empty: give a text to be continued", parameter);
  if (request_.streams && made_ > wanted_.counts.n)
    refuse(Problem::Kind::invalid,
           "best_of is greater than n, and a stream cannot take back a text: ask without stream, or leave out best_of",
           "best_of");
  if (request_.streams && wanted_.reads_prompts && wanted_.options.sampling.logprobs && made_ > 1)
    refuse(Problem::Kind::invalid,
           "the log probabilities of a prompt are streamed with one text only: set n to 1, or ask without stream", "n");
  const std::size_t texts = prompts.size() * made_, most = services_.settings.max_inputs;
  if (texts > most)
    refuse(Problem::Kind::too_many,
           "the request asks for " + std::to_string(texts) + " texts; this server makes " + std::to_string(most) +
               " in one request: send several",
           prompts.size() > 1 ? parameter : "n");
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    totals_.prompt_tokens += prompts[i].ids.size();
    if (prompts[i].ids.size() < generator.context()) continue;
    const std::string place = request_.lone || prompts.size() == 1 ? parameter : place_of_input(request_, i);
    refuse(Problem::Kind::too_long,
           "this model's maximum context length is " + std::to_string(generator.context()) + " tokens, and " + place +
               " has " + std::to_string(prompts[i].ids.size()) + ", which leaves no room for an answer: shorten it",
           parameter);
  }
}

void GenerationCall::make_texts(Growth& growth) {
  held_ = wanted_.prompts.size() * made_ * kTextBytes + totals_.prompt_tokens * (made_ + 1) * sizeof(std::int32_t);
  charge();
  const TextGenerator& generator = growth.model->generator();
  GenerationOptions options = pipelines::options_for(wanted_.counts, wanted_.options);
  if (const auto most = static_cast<std::int64_t>(services_.settings.generation_max_tokens); most > 0)
    options.stopping.max_tokens = std::min(options.stopping.max_tokens.value_or(most), most);
  for (pipelines::TextPrompt& prompt : wanted_.prompts) {
    if (wanted_.reads_prompts)
      prompt_texts_.push_back(generator.tokenizer().decode(prompt.ids, {.skip_special_tokens = true}));
    for (std::size_t i = 0; i < made_; ++i) {
      exchange_->cancellation().check();
      options.prompt_logprobs = wanted_.reads_prompts && i == 0;  // the others begin with the same
      growth.texts.push_back(
          std::make_shared<GrowingText>(generator.state(), prompt.ids, options, growth.texts.size()));
      if (prompt.syntax != nullptr) growth.texts.back()->show_special_tokens(prompt.syntax->shown_ids());
    }
    std::vector<std::int32_t>().swap(prompt.ids);
  }
}

void GenerationCall::send_texts(const GrowthPtr& growth) {
  const std::size_t count = growth->texts.size();
  texts_.resize(count);
  if (request_.streams) {
    // While a hook waits for room it is all that keeps the call.
    stream_.emplace(exchange_, *answer_, count, [weak = std::weak_ptr(self())]() -> std::function<void()> {
      return [call = weak.lock()] {
        // Not on the connections' thread, and as work of the client's: the request has been answered by now.
        call->services_.work.push(std::optional(call->exchange_->client_id),
                                  [call] { call->tell([](Turn& next) { next.has_room = true; }); });
      };
    });
    for (std::size_t i = 0; i < count; ++i) {
      texts_[i].parser.emplace(wanted_.prompts[i / made_].syntax);
      if (wanted_.reads_prompts) take_pieces(i, {{.text = prompt_texts_[i / made_]}});
    }
    services_.live_answers.add(self());
  }
  left_ = count;
  last_token_.resize(count);
  sent_at_ = Clock::now();
  {
    const std::lock_guard lock(mutex_);
    growth_ = growth;
  }
  exchange_->on_abandon([weak = std::weak_ptr(self())] {
    if (const auto call = weak.lock()) call->leave();
  });
  const pipelines::TextTerms terms{
      .client = exchange_->client,
      .is_batch = request_.is_batch,
      .first_token_by = exchange_->deadline(),
      .deadline = request_.streams ? end_of_stream(services_.settings, sent_at_) : exchange_->deadline()};
  for (std::size_t i = 0; i < count; ++i)
    growth->sent.send(i, growth->texts[i], terms, [self = self()](TextNews news) { self->told(std::move(news)); });
}

void GenerationCall::told(TextNews news) {
  if (news.token) {
    Clock::time_point& last = last_token_[news.index];
    const Clock::time_point now = Clock::now();
    if (last == Clock::time_point()) {
      services_.metrics.first_token(now - exchange_->received());
    } else {
      services_.metrics.next_token(now - last);
    }
    last = now;
  }
  tell([&](Turn& next) { next.news.push_back(std::move(news)); });
}

template <typename Add>
void GenerationCall::tell(const Add& add) {
  {
    const std::lock_guard lock(mutex_);
    try {
      add(next_);
    } catch (...) {
      next_.failure = std::current_exception();
    }
    if (std::exchange(is_attended_, true)) return;
  }
  attend();
}

// Nobody waits for the answer any more.
void GenerationCall::leave() {
  if (const GrowthPtr growth = take_growth()) growth->sent.cancel();
}

GenerationCall::GrowthPtr GenerationCall::take_growth() {
  const std::lock_guard lock(mutex_);
  return std::exchange(growth_, nullptr);
}

void GenerationCall::attend() {
  const auto keep = self();
  for (;;) {
    Turn turn;
    {
      const std::lock_guard lock(mutex_);
      if (next_.is_empty()) {
        is_attended_ = false;
        return;
      }
      turn = std::exchange(next_, Turn());
    }
    try {
      take(turn);
    } catch (...) {
      give_up(std::current_exception());
    }
  }
}

void GenerationCall::take(Turn& turn) {
  if (turn.failure) std::rethrow_exception(turn.failure);
  GrowthPtr growth;
  {
    const std::lock_guard lock(mutex_);
    growth = growth_;
  }
  if (growth != nullptr) {
    const auto tokens = std::ranges::count_if(turn.news, [](const TextNews& news) { return news.token.has_value(); });
    services_.quota.count_written(exchange_->client_id, static_cast<std::size_t>(tokens), Clock::now());
    for (TextNews& news : turn.news) take_news(*growth, news);
    charge();
    const bool is_long = turn.ticked && *turn.ticked - sent_at_ >= StreamedTexts::kKeepAlive;
    const bool may_begin = !turn.news.empty() || is_long;
    if (left_ == 0) {
      end_texts(*growth->model);
    } else if (stream_ && !stream_->has_begun() && may_begin) {
      begin_stream(*growth->model);
    }
  }
  if (!stream_ || !stream_->has_begun()) return;
  bool is_there = turn.has_room ? stream_->write_into_room() : stream_->write();
  if (is_there && turn.ticked) is_there = stream_->keep_alive(*turn.ticked);
  if (!is_there) leave();
}

void GenerationCall::take_news(Growth& growth, TextNews& news) {
  if (news.token) {
    if (!first_token_) first_token_ = Clock::now();
    ++totals_.made_tokens;
    held_ += 2 * (bytes_of(*news.token) + news.piece.size());
    if (stream_) stream_->add(news.index, std::move(*news.token));
  }
  take_text(news.index, news.piece);
  if (!news.done) return;
  if (news.done->error) std::rethrow_exception(news.done->error);
  finish_text(growth, news);
}

// The texts of others are taken apart when they are whole.
void GenerationCall::take_text(std::size_t index, std::string_view text) {
  if (!stream_ || text.empty()) return;
  std::vector<AnswerPiece> pieces;
  texts_[index].parser->add(text, pieces);
  take_pieces(index, pieces);
}

void GenerationCall::take_pieces(std::size_t index, const std::vector<AnswerPiece>& pieces) {
  for (const AnswerPiece& piece : pieces) {
    append_piece(texts_[index].made.pieces, piece);
    stream_->add(index, piece);
  }
}

void GenerationCall::finish_text(Growth& growth, const TextNews& news) {
  TextState& text = texts_[news.index];
  std::string rest;
  text.made.generation = growth.texts[news.index]->finish(news.done->cached_tokens, rest);
  growth.texts[news.index].reset();
  queue_ = std::max(queue_, news.done->queue);
  if (stream_) {
    take_text(news.index, rest);
    std::vector<AnswerPiece> pieces;
    text.parser->finish(pieces);
    take_pieces(news.index, pieces);
    text.made.calls = text.parser->calls();
    if (wanted_.reads_prompts) text.made.generation.text.insert(0, prompt_texts_[news.index / made_]);
    stream_->finish(news.index, text.made);
  }
  --left_;
}

// What the request holds, on its client's account.
void GenerationCall::charge() {
  if (exchange_->account == nullptr || held_ <= charge_.bytes()) return;
  if (charge_.bytes() == 0) charge_ = ByteCharge(exchange_->account, ByteCharge::Kind::rows);
  const std::size_t more = held_ - charge_.bytes() + kChargedAtOnce;
  if (!exchange_->account->has_row_room(more))
    refuse(Problem::Kind::overloaded,
           "the requests under way take as much room as they may (max_total_body_mb, max_client_percent): try again "
           "later, or ask for less at a time");
  charge_.raise_to(charge_.bytes() + more);
}

Headers GenerationCall::headers() const {
  Headers headers;
  headers.set("X-Model-Fingerprint", fingerprint_);
  return headers;
}

void GenerationCall::begin_stream(const HostedModel& model) {
  exchange_->stages.compute += Clock::now() - sent_at_;
  exchange_->stages.computed = true;
  stream_->begin({.model = model, .prompt_tokens = totals_.prompt_tokens}, headers());
}

void GenerationCall::end_texts(const HostedModel& model) {
  const Clock::time_point now = Clock::now();
  totals_.total = now - exchange_->received();
  totals_.prompt = first_token_.value_or(now) - sent_at_;
  totals_.made = now - first_token_.value_or(now);
  // A prompt's first text may be the one that computed it for the others.
  for (std::size_t i = 0; i < texts_.size(); i += made_) {
    std::size_t cached = texts_[i].made.generation.cached_tokens;
    for (std::size_t j = 1; j < made_; ++j) cached = std::min(cached, texts_[i + j].made.generation.cached_tokens);
    totals_.cached_tokens += cached;
  }
  services_.metrics.prompts(totals_.prompt_tokens, totals_.cached_tokens);
  touch_model(*exchange_, services_.models, model, request_.keep_alive);
  if (stream_) {
    if (!stream_->has_begun()) begin_stream(model);
    stream_->end(totals_);
  } else {
    exchange_->stages.queue += queue_;
    exchange_->stages.compute += now - sent_at_ - queue_;
    exchange_->stages.computed = true;
    std::string none;
    answer_->begin({.model = model, .prompt_tokens = totals_.prompt_tokens}, none);
    on_work_queue([this] { reply(); });
  }
  take_growth();
}

void GenerationCall::reply() {
  if (exchange_->abandoned()) return;
  const Clock::time_point begin = Clock::now();
  Response response = answer_->whole(chosen_texts(), totals_);
  exchange_->stages.format = Clock::now() - begin;
  for (const auto& [name, value] : headers()) response.headers.set(name, value);
  exchange_->reply(std::move(response));
}

std::vector<MadeText> GenerationCall::chosen_texts() {
  std::vector<MadeText> chosen;
  for (std::size_t first = 0; first < texts_.size(); first += made_) {
    const std::size_t prompt = first / made_;
    std::vector<const Generation*> all;
    for (std::size_t i = 0; i < made_; ++i) all.push_back(&texts_[first + i].made.generation);
    const std::vector<std::size_t> best = pipelines::best_texts(all, wanted_.counts.n);
    const std::vector<GeneratedToken> prompt_tokens = std::move(texts_[first].made.generation.prompt);
    for (const std::size_t i : best) {
      MadeText& made = chosen.emplace_back(std::move(texts_[first + i].made));
      std::vector<AnswerPiece> pieces;
      if (wanted_.reads_prompts) pieces.push_back({.text = prompt_texts_[prompt]});
      pipelines::AnswerParser parser(wanted_.prompts[prompt].syntax);
      parser.add(made.generation.text, pieces);
      parser.finish(pieces);
      made.calls = parser.calls();
      for (const AnswerPiece& piece : pieces) append_piece(made.pieces, piece);
      made.generation.prompt = prompt_tokens;
      if (wanted_.reads_prompts) made.generation.text.insert(0, prompt_texts_[prompt]);
    }
  }
  return chosen;
}

// Ends all with an error. A stream that cannot even say so breaks off.
void GenerationCall::give_up(const std::exception_ptr& error) noexcept {
  try {
    leave();
    if (!stream_ || !stream_->has_begun()) return fail(*exchange_, family_, error);
    if (!stream_->is_ending()) {
      stream_->fail(logged_problem(*exchange_, error));
      stream_->write();
      return;
    }
  } catch (const std::exception& failure) {
    base::log(base::LogLevel::error, "a stream breaks off", {{"id", exchange_->id()}, {"reason", failure.what()}});
  }
  stream_.reset();
}

// As clients of OpenAI say it, and a header for all others.
bool is_batch_work(const Call& call) {
  const std::string tier = call.body.get_string("service_tier", "");
  const std::string* priority = call.exchange->request().headers.find("X-Priority");
  return tier == "flex" || tier == "batch" || (priority != nullptr && same_token(*priority, "batch"));
}

}  // namespace

void run_generation(Call& call, GenerationRequest request, std::unique_ptr<GenerationAnswer> answer) {
  request.is_batch = request.is_batch || is_batch_work(call);
  std::make_shared<GenerationCall>(call, std::move(request), std::move(answer))->start();
}

}  // namespace alate::server
