#include "pipelines/rerank/list_run.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

#include "alate/error.h"
#include "base/threads/thread_pool.h"
#include "pipelines/calls/prepared_rows.h"
#include "pipelines/rerank/list_prompt.h"
#include "tokenizers/encode.h"

namespace alate::pipelines {
namespace {

// Source: jinaai/jina-reranker-v3, modeling.py.
constexpr std::size_t kQueryLength = 512, kTextLength = 2048;

double cosine(std::span<const double> a, std::span<const float> b) {
  double product = 0, squares_a = 0, squares_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    product += a[i] * double{b[i]};
    squares_a += a[i] * a[i];
    squares_b += double{b[i]} * double{b[i]};
  }
  const double lengths = std::sqrt(squares_a) * std::sqrt(squares_b);
  return lengths > 0 ? product / lengths : 0;
}

}  // namespace

ListRun::ListRun(RerankPipeline pipeline, std::string_view query, std::vector<std::string_view> texts,
                 RerankOptions options)
    : RerankRun(texts.size()),
      pipeline_(std::move(pipeline)),
      query_(query),
      texts_(std::move(texts)),
      options_(std::move(options)) {
  const RerankPipeline::State& state = pipeline_.state();
  if (options_.long_texts.treatment == LongTexts::windows)
    throw Error(ErrorCode::unsupported,
                "a model that ranks lists reads the beginning or the end of a long text; choose cut or cut-left, or "
                "split the text: windows");
  instruction_ = without_list_tokens(options_.prompt ? *options_.prompt
                                                     : state.settings.prompts.prompt_named(options_.prompt_name));
  length_ = row_limit(options_.long_texts.max_length, std::min(kTextLength, state.max_length), state.max_length);
  program_ = std::make_shared<const ListProgram>(list_entry_point(state.model.state()), *state.list_tokens);
}

std::string ListRun::excess() const {
  return " has more than the " + std::to_string(length_) + " tokens that are read of a text";
}

ListRun::Piece ListRun::cut(std::string_view text, std::size_t length, const base::Cancellation& cancellation) const {
  EncodeOptions options{.add_special_tokens = false,
                        .max_length = length,
                        .with_offsets = false,
                        .with_tokens = false,
                        .with_windows = false};
  if (options_.long_texts.treatment == LongTexts::cut) options.side = Side::right;
  if (options_.long_texts.treatment == LongTexts::cut_left) options.side = Side::left;
  const Tokenizer& tokenizer = pipeline_.tokenizer();
  const Encoding encoding = tokenizers::encode(tokenizer, text, options, cancellation);
  Piece piece{.text = {}, .tokens = encoding.ids.size(), .truncated = encoding.truncated};
  piece.text = without_list_tokens(piece.truncated ? tokenizer.decode(encoding.ids) : std::string(text));
  return piece;
}

// A cut query is a cut of every text's reading.
std::string ListRun::read_query(const base::Cancellation& cancellation, std::size_t& tokens, bool& truncated) const {
  Piece query = cut(query_, std::min(kQueryLength, pipeline_.max_length()), cancellation);
  if (query.truncated && options_.long_texts.treatment == LongTexts::error)
    throw make_error(ErrorCode::invalid_argument, "the query has more than the ", query.tokens,
                     " tokens that are read of it; shorten it, or let it be cut");
  tokens = query.tokens;
  truncated = query.truncated;
  return std::move(query.text);
}

TextRows ListRun::make_rows(const base::Cancellation& cancellation) {
  TextRows all;
  double bytes = 0;
  for (const std::string_view text : texts_) bytes += static_cast<double>(text.size());
  const std::size_t with_each = query_.size() + instruction_.size();
  bytes += static_cast<double>(with_each) * static_cast<double>(std::max<std::size_t>(texts_.size(), 1));
  require_readable(limits(), bytes, "the query and its prompt");
  if (texts_.empty()) return all;
  std::size_t query_tokens = 0;
  bool query_truncated = false;
  const std::string query = read_query(cancellation, query_tokens, query_truncated);
  const std::vector<std::string_view> texts = std::exchange(texts_, {});
  std::vector<Piece> pieces(texts.size());
  const std::size_t threads = pipeline_.model().state().options.threads;
  base::ThreadPool::shared().parallel_for(texts.size(), threads, [&](std::size_t i, std::size_t) {
    cancellation.check();
    pieces[i] = cut(texts[i], length_, cancellation);
  });
  std::vector<std::string> read;
  std::vector<std::size_t> lengths, inputs;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].truncated && options_.long_texts.treatment == LongTexts::error) {
      all.too_long.push_back(i);
      continue;
    }
    if (pieces[i].truncated || query_truncated) all.prepared.truncated.push_back(i);
    read.push_back(std::move(pieces[i].text));
    lengths.push_back(pieces[i].tokens);
    inputs.push_back(i);
  }
  std::size_t first = 0;
  for (const std::size_t count : list_blocks(lengths, query_tokens, pipeline_.max_length(), length_)) {
    add_rows(query, std::span(read).subspan(first, count), std::span(inputs).subspan(first, count), all, cancellation);
    first += count;
  }
  return all;
}

// One row, or several where what is written around the texts leaves no room for all of them.
void ListRun::add_rows(const std::string& query, std::span<const std::string> texts,
                       std::span<const std::size_t> inputs, TextRows& all, const base::Cancellation& cancellation) {
  cancellation.check();
  const EncodeOptions options{.with_offsets = false, .with_tokens = false};
  Encoding row =
      tokenizers::encode(pipeline_.tokenizer(), list_prompt(query, texts, instruction_), options, cancellation);
  const std::size_t limit = pipeline_.max_length();
  if (row.ids.size() <= limit) {
    token_budget().take(row.ids.size());
    all.inputs.push_back(inputs_.size());
    all.prepared.rows.push_back({.ids = std::move(row.ids)});
    inputs_.emplace_back(inputs.begin(), inputs.end());
    return;
  }
  if (texts.size() == 1)
    throw make_error(ErrorCode::invalid_argument, "text ", inputs.front() + 1, " with the query and what is written ",
                     "around both has ", row.ids.size(), " tokens, and the model takes ", limit,
                     "; shorten the query, or cut texts to fewer tokens");
  const std::size_t half = texts.size() / 2;
  add_rows(query, texts.first(half), inputs.first(half), all, cancellation);
  add_rows(query, texts.subspan(half), inputs.subspan(half), all, cancellation);
}

float ListRun::scaled(double similarity) const {
  const bool is_raw = options_.raw_scores || options_.model_scores;
  return static_cast<float>(is_raw ? similarity : std::clamp((1 + similarity) / 2, 0.0, 1.0));
}

// The query's vector is the mean of those of all rows, weighted by their best texts.
void ListRun::take(const RowResults& results) {
  clear_scores();
  const std::size_t width = program_->vector_size();
  std::vector<double> query(width);
  double weights = 0;
  const auto text_of = [&](std::size_t row, std::size_t i) { return results.of(row).subspan((i + 1) * width, width); };
  for (std::size_t row = 0; row < results.count(); ++row) {
    const std::span<const float> own = results.of(row).first(width);
    const std::vector<double> asked(own.begin(), own.end());
    double weight = 0;
    for (std::size_t i = 0; i < inputs_[row].size(); ++i)
      weight = std::max(weight, (1 + cosine(asked, text_of(row, i))) / 2);
    for (std::size_t i = 0; i < width; ++i) query[i] += weight * asked[i];
    weights += weight;
  }
  if (weights > 0) {
    for (double& value : query) value /= weights;
  }
  for (std::size_t row = 0; row < results.count(); ++row) {
    for (std::size_t i = 0; i < inputs_[row].size(); ++i) {
      const double similarity = cosine(query, text_of(row, i));
      scores_[inputs_[row][i]] = scaled(similarity);
      raw_scores_[inputs_[row][i]] = static_cast<float>(similarity);
    }
  }
}

}  // namespace alate::pipelines
