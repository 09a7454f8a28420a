#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "alate/embedding.h"
#include "alate/error.h"
#include "formats/json.h"
#include "pipelines/calls/text_frame.h"
#include "pipelines/embed/embedding_rows.h"
#include "pipelines/embed/late_interaction_rows.h"
#include "pipelines/embed/window_means.h"
#include "pipelines/modules/embedding_graph.h"
#include "pipelines/modules/kind_graph.h"
#include "pipelines/modules/modules.h"
#include "runtime/loading/loaded_model.h"
#include "tokenizers/encode.h"
#include "tokenizers/parts.h"
#include "tokenizers/unicode/letter_case.h"
#include "tokenizers/unicode/utf8.h"

namespace alate {

EmbeddingPipeline::State::State(Model loaded, Tokenizer tokens, pipelines::EmbeddingModules read,
                                pipelines::KindModules kinds_read)
    : model(std::move(loaded)), tokenizer(std::move(tokens)), modules(std::move(read)), kinds(std::move(kinds_read)) {}

std::vector<EmbeddingPipeline> EmbeddingPipeline::State::others() const {
  std::vector<EmbeddingPipeline> found;
  for (const auto& [route, other] : beside) {
    const auto is_same = [&](const EmbeddingPipeline& each) { return &each.state() == &other.state(); };
    if (std::ranges::none_of(found, is_same)) found.push_back(other);
  }
  return found;
}

Fingerprint EmbeddingPipeline::State::fingerprint() const {
  if (beside.empty()) return model.fingerprint();
  FingerprintBuilder builder;
  builder.add(model.fingerprint());
  for (const auto& [route, other] : beside) builder.add(route).add(other.model().fingerprint());
  return builder.finish();
}

std::shared_ptr<const runtime::EntryPoint> EmbeddingPipeline::State::entry_point(bool normalize,
                                                                                 std::string_view task) const {
  const pipelines::EmbeddingModules& route = modules.for_task(task);
  auto entry_point = pipelines::embedding_entry_point(model.state(), route, normalize, adapter_of(task));
  if (const std::size_t given = entry_point->numbers_per_row(); &route != &modules && given != width)
    throw make_error(ErrorCode::unsupported, "the routes '", modules.route, "' and '", route.route,
                     "' of the model's Router give vectors of ", width, " and ", given,
                     " numbers; both must be as wide here: Router");
  return entry_point;
}

std::shared_ptr<const runtime::EntryPoint> EmbeddingPipeline::State::kind_entry_point(const EmbeddingKinds& asked,
                                                                                      bool normalize,
                                                                                      std::string_view task) const {
  if (asked == EmbeddingKinds::only(EmbeddingKind::dense) && width > 0) return entry_point(normalize, task);
  if (!kinds.routes.names.empty()) kinds.routes.place_of(task);  // loading has asked for that of no task
  return pipelines::kind_entry_point(model.state(), modules.for_task(task), kinds, asked, normalize, task,
                                     adapter_of(task));
}

std::string_view EmbeddingPipeline::State::adapter_of(std::string_view task) const {
  const std::span<const std::string> known = model.state().form->adapters();
  const auto find = [&](std::initializer_list<std::string_view> names) -> std::string_view {
    for (const std::string_view name : names) {
      if (const auto found = std::ranges::find(known, name); found != known.end()) return *found;
    }
    return {};
  };
  if (task.empty()) return {};
  if (task == "query") return find({task, "retrieval.query", "retrieval_query"});
  if (task == "document") return find({task, "retrieval.passage", "retrieval_passage"});
  return find({task});
}

std::shared_ptr<const runtime::EntryPoint> EmbeddingPipeline::State::main_entry_point() const {
  return pipelines::kind_entry_point(model.state(), modules, kinds, EmbeddingKinds::only(kinds.main_kind()),
                                     modules.normalizes());
}

std::shared_ptr<const runtime::EntryPoint> EmbeddingPipeline::State::token_entry_point() const {
  const auto hidden = [](graph::Builder& b, const models::EncoderInputs&, const models::BuiltEncoder& built) {
    b.output("token_embeddings", built.last_hidden_state);
  };
  return model.state().entry_point("embed_tokens", hidden, models::HeadChoice::none);
}

namespace {

using Row = std::vector<std::int32_t>;

std::string names_of(const EmbeddingKinds& kinds) {
  std::string names;
  for (const EmbeddingKind kind : kinds.list()) {
    if (!names.empty()) names += " and ";
    names += to_string(kind);
  }
  return names;
}

// ", or one of the model's adapters: a, b"
std::string or_adapters(const EmbeddingPipeline::State& state) {
  std::string names;
  for (const std::string& name : state.model.state().form->adapters())
    names += (names.empty() ? ", or one of the model's adapters: " : ", ") + name;
  return names;
}

void require_task(const EmbeddingPipeline::State& state, const EmbedOptions& options) {
  const pipelines::RouteTable& routes = state.kinds.routes.names.empty() ? state.modules.routes : state.kinds.routes;
  if (!routes.names.empty()) routes.place_of(options.task);
  if (options.task.empty() || pipelines::is_query(options) || options.task == "document") return;
  if (routes.knows(options.task) || !state.adapter_of(options.task).empty()) return;
  throw make_error(ErrorCode::invalid_argument, "the task is ", formats::quoted_name(options.task),
                   "; it may be query or document", or_adapters(state));
}

// The prompt that the task chooses. A default prompt is not for texts of a task.
const std::string* prompt_of_task(const EmbeddingPipeline::State& state, const EmbedOptions& options) {
  static const std::string none;
  const pipelines::EmbeddingModules& modules = state.modules;
  if (const std::string_view adapter = state.adapter_of(options.task); !adapter.empty()) {
    if (const auto found = modules.prompts.find(adapter); found != modules.prompts.end()) return &found->second;
    if (adapter == options.task && !pipelines::is_query(options) && options.task != "document") return &none;
  }
  const bool is_known = pipelines::is_query(options) || options.task == "document";
  if (options.task.empty() || !is_known) return nullptr;
  constexpr std::array<std::string_view, 3> kDocuments = {"document", "passage", "corpus"};
  constexpr std::array<std::string_view, 1> kQueries = {"query"};
  const std::span<const std::string_view> names = pipelines::is_query(options)
                                                      ? std::span<const std::string_view>(kQueries)
                                                      : std::span<const std::string_view>(kDocuments);
  for (const std::string_view name : names) {
    if (const auto found = modules.prompts.find(name); found != modules.prompts.end()) return &found->second;
  }
  return &none;
}

const std::string& prompt_of(const EmbeddingPipeline::State& state, const EmbedOptions& options) {
  if (options.prompt) return *options.prompt;
  if (options.prompt_name.empty()) {
    if (const std::string* prompt = prompt_of_task(state, options)) return *prompt;
  }
  return state.modules.prompt_named(options.prompt_name);
}

// Scales a vector to length 1.
void normalize(std::span<float> vector) {
  double squares = 0;
  for (const float value : vector) squares += double{value} * double{value};
  const double length = std::max(std::sqrt(squares), 1e-12);
  for (float& value : vector) value = static_cast<float>(value / length);
}

bool has_frame(const Row& row, const pipelines::Frame& frame) {
  return row.size() >= frame.before.size() + frame.after.size() &&
         std::equal(frame.before.begin(), frame.before.end(), row.begin()) &&
         std::equal(frame.after.rbegin(), frame.after.rend(), row.rbegin());
}

}  // namespace

namespace pipelines {
namespace {

// It is read with each text.
void require_room_for_prompt(std::span<const std::string_view> texts, const std::string& prompt,
                             const CallLimits& limits) {
  double bytes = static_cast<double>(prompt.size()) * static_cast<double>(std::max<std::size_t>(texts.size(), 1));
  for (const std::string_view text : texts) bytes += static_cast<double>(text.size());
  require_readable(limits, bytes, "the prompt");
}

// Without special tokens, by the tokenizer of the table of weights.
PreparedRows prepare_static(const EmbeddingPipeline& pipeline, std::span<const std::string_view> texts,
                            const EmbedOptions& options, const std::string& prompt,
                            const base::Cancellation& cancellation) {
  const EmbeddingPipeline::State& state = pipeline.state();
  const std::size_t positions = pipeline.facts().max_positions;
  EncodeOptions encode;
  encode.add_special_tokens = false;
  encode.max_length =
      row_limit(options.max_length, std::min(state.static_length.value_or(positions), positions), positions);
  encode.side = options.truncation_side;
  encode.with_offsets = encode.with_tokens = encode.with_windows = false;
  return prepare_rows(texts.size(), state.model.state().options.threads, cancellation, [&](std::size_t i) {
    Encoding encoding =
        tokenizers::encode(*state.static_tokenizer, prompt + std::string(texts[i]), encode, cancellation);
    return PreparedRow{.row = {.ids = std::move(encoding.ids)}, .truncated = encoding.truncated};
  });
}

}  // namespace

void require_kinds(const EmbeddingPipeline& pipeline, const EmbeddingKinds& kinds) {
  if (kinds == EmbeddingKinds{})
    throw Error(ErrorCode::invalid_argument, "no kind of embedding is asked for: name dense, sparse or multi-vector");
  const EmbeddingKinds given = pipeline.kinds();
  for (const EmbeddingKind kind : kinds.list()) {
    if (!given.has(kind))
      throw make_error(ErrorCode::unsupported, "the model '", pipeline.model().state().name, "' gives ",
                       names_of(given), " embeddings; ask for these, or name another model: ", to_string(kind));
  }
}

bool is_query(const EmbedOptions& options) { return options.task == "query"; }

const EmbeddingPipeline& pipeline_for(const EmbeddingPipeline& pipeline, std::string_view task) {
  const EmbeddingPipeline::State& state = pipeline.state();
  if (state.beside.empty()) return pipeline;
  const auto found = state.beside.find(state.routes.names[state.routes.place_of(task)]);
  return found == state.beside.end() ? pipeline : found->second;
}

std::string_view task_of_chunked(const EmbeddingPipeline& pipeline) {
  const RouteTable& routes = pipeline.state().modules.routes;
  return routes.names.empty() || routes.has_default() ? "" : "document";
}

const std::string& embedding_prompt(const EmbeddingPipeline& any, const EmbedOptions& options) {
  const EmbeddingPipeline& pipeline = pipeline_for(any, options.task);
  require_task(pipeline.state(), options);
  return prompt_of(pipeline.state(), options);
}

std::size_t embedding_row_limit(const EmbeddingPipeline& any, const EmbedOptions& options) {
  const EmbeddingPipeline& pipeline = pipeline_for(any, options.task);
  const std::size_t positions = pipeline.facts().max_positions;
  const TransformerSettings& settings = pipeline.state().modules.transformer;
  std::optional<std::size_t> length;
  if (is_query(options)) length = settings.query_length;
  if (options.task == "document") length = settings.document_length;
  const std::size_t usual = length ? std::min(*length, positions) : pipeline.max_length();
  return row_limit(options.max_length, usual, positions);
}

PreparedRows prepare_embedding(const EmbeddingPipeline& any, std::span<const std::string_view> texts,
                               const EmbedOptions& given, const base::Cancellation& cancellation,
                               const CallLimits& limits) {
  const EmbeddingPipeline& pipeline = pipeline_for(any, given.task);
  const EmbeddingPipeline::State& state = pipeline.state();
  EmbedOptions options = given;
  if (options.long_texts == LongTexts::cut) options.truncation_side = Side::right;
  if (options.long_texts == LongTexts::cut_left) options.truncation_side = Side::left;
  const std::string& prompt = embedding_prompt(pipeline, given);
  require_room_for_prompt(texts, prompt, limits);
  const bool in_windows = options.long_texts == LongTexts::windows;
  if (in_windows && (state.kinds.late_interaction || state.kinds.is_static(options.task)))
    throw Error(
        ErrorCode::invalid_argument,
        "the model gives no vector of a whole text from its encoder, so that windows cannot be joined; let long "
        "texts be cut or refused");
  if (state.kinds.late_interaction) return prepare_late_interaction(pipeline, texts, options, prompt, cancellation);
  if (state.kinds.is_static(options.task)) return prepare_static(pipeline, texts, options, prompt, cancellation);
  EncodeOptions encode;
  encode.max_length = embedding_row_limit(pipeline, options);
  encode.side = options.truncation_side;
  encode.with_offsets = encode.with_tokens = encode.with_windows = false;
  const auto ids_of = [&](std::string_view text, bool& truncated) {
    const bool lower_case = state.modules.transformer.lower_case;
    const std::string lower = lower_case ? tokenizers::lower_cased(text) : std::string();
    Encoding encoding =
        tokenizers::encode(state.tokenizer, lower_case ? std::string_view(lower) : text, encode, cancellation);
    truncated = encoding.truncated;
    return std::move(encoding.ids);
  };

  std::int32_t pool_skip = 0;
  if (!prompt.empty() && !state.modules.for_task(options.task).pools_prompt()) {
    bool cut = false;
    const std::size_t with_specials = ids_of(prompt, cut).size();
    // Its last special token comes after the text.
    pool_skip = static_cast<std::int32_t>(with_specials > 0 ? with_specials - 1 : 0);
  }
  const auto make = [&](std::size_t i) {
    PreparedRow made{.row = {.ids = {}, .pool_skip = pool_skip}};
    made.row.ids =
        prompt.empty() ? ids_of(texts[i], made.truncated) : ids_of(prompt + std::string(texts[i]), made.truncated);
    return made;
  };
  PreparedRows prepared = prepare_rows(texts.size(), state.model.state().options.threads, cancellation, make);
  if (in_windows)
    read_in_windows(pipeline, texts, options,
                    {.prompt = prompt,
                     .pool_skip = pool_skip,
                     .limit = encode.max_length.value(),
                     .most_tokens = limits.row_tokens},
                    prepared, cancellation);
  return prepared;
}

std::string embedding_excess(const EmbeddingPipeline& pipeline, const EmbedOptions& options) {
  return " has more than the " + std::to_string(embedding_row_limit(pipeline, options)) +
         " tokens that the model takes";
}

PreparedRows prepare_framed_ids(const EmbeddingPipeline& any, std::span<const Row> rows, const EmbedOptions& options) {
  const EmbeddingPipeline& pipeline = pipeline_for(any, options.task);
  const Frame frame = frame_of(pipeline.tokenizer());
  const Side side = options.truncation_side.value_or(pipeline.tokenizer().parts().stated_side);
  const std::size_t limit = embedding_row_limit(pipeline, options), added = frame.before.size() + frame.after.size();
  const std::size_t room = limit - std::min(limit, added);
  PreparedRows result;
  for (const Row& row : rows) {
    const bool framed = has_frame(row, frame);
    const std::ptrdiff_t head = framed ? static_cast<std::ptrdiff_t>(frame.before.size()) : 0;
    const std::ptrdiff_t tail = framed ? static_cast<std::ptrdiff_t>(frame.after.size()) : 0;
    std::span<const std::int32_t> inner(row.begin() + head, row.end() - tail);
    if (inner.size() > room) {
      inner = side == Side::left ? inner.last(room) : inner.first(room);
      result.truncated.push_back(result.rows.size());
    }
    Row& whole = result.rows.emplace_back(runtime::BatchRow{.ids = frame.before}).ids;
    whole.insert(whole.end(), inner.begin(), inner.end());
    whole.insert(whole.end(), frame.after.begin(), frame.after.end());
  }
  return result;
}

bool normalizes(const EmbeddingPipeline& any, const EmbedOptions& options) {
  const EmbeddingPipeline& pipeline = pipeline_for(any, options.task);
  return options.normalize.value_or(pipeline.state().modules.for_task(options.task).normalizes());
}

std::size_t kept_dimensions(const EmbeddingPipeline& pipeline, const EmbedOptions& options) {
  require_kinds(pipeline, EmbeddingKinds::only(EmbeddingKind::dense));
  const std::size_t kept = options.dimensions.value_or(pipeline.dimensions()), width = pipeline.state().width;
  if (kept >= 1 && kept <= width) return kept;
  throw make_error(ErrorCode::invalid_argument, "dimensions is ", kept, " but the model's vectors have ", width);
}

std::size_t finish_embedding(const EmbeddingPipeline& pipeline, const EmbedOptions& options, std::span<float> values) {
  const std::size_t width = pipeline.state().width, kept = kept_dimensions(pipeline, options);
  if (kept == width) return values.size();
  const bool is_asked = options.dimensions.has_value() || options.normalize.has_value();
  const bool normalized = is_asked && normalizes(pipeline, options);
  const std::size_t rows = values.size() / width;
  for (std::size_t i = 0; i < rows; ++i) {
    const std::span<float> vector = values.subspan(i * kept, kept);
    std::ranges::copy(values.subspan(i * width, kept), vector.begin());  // never behind what is still to be read
    if (normalized) normalize(vector);
  }
  return rows * kept;
}

}  // namespace pipelines

Similarity EmbeddingPipeline::similarity() const {
  return parse_similarity(state_->modules.similarity).value_or(Similarity::cosine);
}
std::size_t EmbeddingPipeline::dimensions() const { return state_->dimensions; }
std::size_t EmbeddingPipeline::max_length() const { return state_->max_length; }
const Tokenizer& EmbeddingPipeline::tokenizer() const { return state_->tokenizer; }
const Model& EmbeddingPipeline::model() const { return state_->model; }
const ModelFacts& EmbeddingPipeline::facts() const { return state_->model.facts(); }

}  // namespace alate
