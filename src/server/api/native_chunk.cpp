#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "pipelines/chunk/chunk_json.h"
#include "pipelines/chunk/chunking.h"
#include "pipelines/chunk/separators.h"
#include "pipelines/embed/embedding_rows.h"
#include "pipelines/recognize/recognize_run.h"
#include "pipelines/tasks/tasks.h"
#include "server/api/background.h"
#include "server/api/chunk.h"
#include "server/api/native.h"
#include "server/api/route_schemas.h"
#include "server/exchange/itemized_body.h"
#include "server/exchange/refuse.h"
#include "server/models/chunk_service.h"
#include "server/models/services.h"
#include "server/models/task_service.h"

namespace alate::server {
namespace {

using formats::Json;

constexpr std::size_t kUsualMostChunks = 50;
// Termite's name for the tokenizer of BERT, which is that of the model that comes with the program.
constexpr std::string_view kBertTokenizer = "fixed-bert-tokenizer";

struct Wanted {
  std::string model;  // empty: tokens are counted by rule
  std::string shown;  // the answer's "model"
  bool late = false, has_method = false;
  ChunkOptions options;
};

std::optional<std::size_t> positive(const Json& config, std::string_view name) {
  const std::int64_t count = config.get_int(name, 0);
  return count > 0 ? std::optional(static_cast<std::size_t>(count)) : std::nullopt;
}

Wanted wanted_of(const Json& body) {
  static const Json none{Json::Object()};
  const Json& config = body.find_value("config") != nullptr ? *body.find_value("config") : none;
  Wanted wanted;
  wanted.late = body.get_bool("late", false);
  const std::string named = config.get_string("model", "");
  const std::optional<ChunkMethod> method = parse_chunk_method(named);
  wanted.model = body.get_string("model", "");
  wanted.shown = wanted.model;
  if (!method && !named.empty()) {
    wanted.shown = named;
    if (!wanted.model.empty() && wanted.model != named)
      refuse(Problem::Kind::invalid, "model and config.model name two models: give one of them", "config");
    wanted.model = named == kBertTokenizer ? "builtin:minilm" : named;
  }
  ChunkOptions& options = wanted.options;
  if (method) options.method = *method;
  wanted.has_method = method || config.find_value("method") != nullptr;
  if (const Json* name = config.find_value("method")) options.method = *parse_chunk_method(name->as_string("method"));
  if (const auto tokens = positive(config, "target_tokens")) options.target_tokens = *tokens;
  if (const Json* tokens = config.find_value("overlap_tokens"))
    options.overlap_tokens = static_cast<std::size_t>(tokens->as_int("overlap_tokens"));
  if (wanted.model.empty()) wanted.shown = to_string(options.method);
  options.separator = config.get_string("separator", options.separator);
  options.max_chunks = std::min(positive(config, "max_chunks").value_or(kUsualMostChunks), kMostChunks);
  options.threshold = config.get_double("threshold", options.threshold);
  if (const Json* percentile = config.find_value("percentile"))
    options.percentile = percentile->as_double("percentile");
  try {
    pipelines::check_chunk_options(options);
  } catch (const Error& error) {
    refuse(Problem::Kind::invalid, error.message(), "config");
  }
  if (options.method == ChunkMethod::classifier && (wanted.model.empty() || wanted.late))
    refuse(Problem::Kind::invalid,
           wanted.late ? "late pools an embedding model's vectors, and the method classifier has none"
                       : "the method classifier needs a model for token classification: name one as model",
           "model");
  if (wanted.model.empty() && (wanted.late || options.method == ChunkMethod::semantic))
    refuse(Problem::Kind::invalid,
           std::string(wanted.late ? "late" : "the method semantic") + " needs an embedding model: name one as model",
           "model");
  return wanted;
}

std::string text_of(const Json& body) {
  const Json *text = body.find_value("text"), *input = body.find_value("input");
  if (text != nullptr && input != nullptr)
    refuse(Problem::Kind::invalid, "both text and input are given: give one of them", "input");
  if (text == nullptr && input == nullptr)
    refuse(Problem::Kind::invalid, "text is missing: give the text to cut", "text");
  return text != nullptr ? text->as_string("text") : input->as_string("input");
}

EmbedOptions embed_options(const Json& body) {
  EmbedOptions options;
  if (const Json* dimensions = body.find_value("dimensions"))
    options.dimensions = static_cast<std::size_t>(dimensions->as_int("dimensions"));
  if (const Json* normalize = body.find_value("normalize")) options.normalize = normalize->as_bool("normalize");
  options.task = body.get_string("task", "");
  options.prompt_name = body.get_string("prompt_name", "");
  if (const Json* prompt = body.find_value("prompt")) options.prompt = prompt->as_string("prompt");
  return options;
}

// A recognizer whose text is cut where its entities end.
class DividingRun final : public pipelines::RecognizeRun {
 public:
  using RecognizeRun::RecognizeRun;
  using RecognizeRun::text;
};

// Of each chunk the places are held; its text is cut while it is written.
Response chunk_response(ChunkAnswer answer, const std::string& shown) {
  ItemizedBody body;
  body.hold(answer.text->size() + answer.chunks.chunks.size() * sizeof(Chunk));
  if (answer.vectors) body.hold(answer.vectors->byte_count());
  const auto held = std::make_shared<const ChunkAnswer>(
      ChunkAnswer{{}, std::move(answer.text), std::move(answer.chunks), std::move(answer.vectors)});
  body.add_text(std::string(pipelines::kChunksBegin));
  body.add_list(held->chunks.chunks.size(), [held](std::string& out, std::size_t i) {
    const Chunk& chunk = held->chunks.chunks[i];
    const std::string_view text = *held->text;
    pipelines::append_chunk(out, i, chunk, text.substr(chunk.byte_start, chunk.byte_end - chunk.byte_start),
                            held->vectors ? &*held->vectors : nullptr);
  });
  body.add_text(pipelines::chunks_end(held->chunks, shown));
  return itemized_response(std::move(body));
}

Response counted_chunks(const std::shared_ptr<const std::string>& text, const Wanted& wanted,
                        const std::optional<Tokenizer>& tokenizer, bool lower_case,
                        const base::Cancellation& cancellation) {
  const pipelines::TokenMap map(*text, tokenizer, lower_case, cancellation);
  ChunkAnswer answer;
  answer.text = text;
  answer.chunks = places_of_answer(map, pipelines::plan_chunks(map, wanted.options));
  return chunk_response(std::move(answer), wanted.shown);
}

// Where a model for token classification divides it.
void divide_text(Call& call, std::string text, const Wanted& wanted) {
  TaskRequest request;
  request.model = wanted.model;
  request.keep_alive = read_keep_alive(call.body);
  request.parameter = "text";
  request.lone = true;
  request.texts = {std::move(text)};
  run_task(
      call, std::move(request),
      [](const pipelines::TextModel& text_model, std::vector<std::string_view> texts) {
        RecognizePipeline recognizer = pipelines::divider_of(pipelines::recognizer_of(text_model));
        RecognizeOptions options = pipelines::separator_options(recognizer);
        return std::make_unique<DividingRun>(std::move(recognizer), std::move(texts), std::move(options));
      },
      [wanted, exchange = call.exchange](TaskAnswer& answer) {
        auto& run = static_cast<DividingRun&>(*answer.run);
        const pipelines::TokenMap map(run.text(0), answer.model->tokenizer(), false, exchange->cancellation());
        const pipelines::PackedChunks packed =
            pipelines::plan_divided_chunks(map, pipelines::ends_of(run.entities().front()), wanted.options);
        ChunkAnswer chunks;
        chunks.chunks = places_of_answer(map, packed);
        chunks.text = std::make_shared<const std::string>(run.text(0));
        return chunk_response(std::move(chunks), wanted.shown);
      });
}

// By the model's tokens, with no help of the model itself.
void count_with_model(Call& call, std::string text, const Wanted& wanted) {
  answer_with_model(
      call, wanted.model,
      [text = std::make_shared<const std::string>(std::move(text)), wanted,
       exchange = call.exchange](const HostedModel& hosted) {
        const EmbeddingPipeline* embedding = hosted.pipelines.find_embedding();
        const bool lower_case = embedding != nullptr && embedding->state().modules.transformer.lower_case;
        return counted_chunks(text, wanted, hosted.tokenizer(), lower_case, exchange->cancellation());
      },
      read_keep_alive(call.body));
}

void chunk_text(Call& call) {
  Wanted wanted = wanted_of(call.body);
  std::string text = text_of(call.body);
  if (wanted.late || wanted.options.method == ChunkMethod::semantic) {
    ChunkRequest request;
    request.model = wanted.model;
    request.keep_alive = read_keep_alive(call.body);
    request.parameter = "text";
    request.lone = true;
    request.text = std::move(text);
    request.chunk = wanted.options;
    request.embed = embed_options(call.body);
    request.late = wanted.late;
    return chunk_with_vectors(call, std::move(request), [shown = wanted.shown](ChunkAnswer answer) {
      return chunk_response(std::move(answer), shown);
    });
  }
  if (wanted.model.empty())
    return answer_in_background(
        call, [text = std::make_shared<const std::string>(std::move(text)), wanted, exchange = call.exchange] {
          return counted_chunks(text, wanted, {}, false, exchange->cancellation());
        });
  const std::string model = wanted.model;
  if (wanted.options.method == ChunkMethod::classifier) return divide_text(call, std::move(text), wanted);
  if (!wanted.has_method) {
    return go_on_with_model(call, model, [text, wanted](Call& with_model, const HostedModel& hosted) {
      if (pipelines::divides_texts(hosted.pipelines.model().state().config)) {
        Wanted divided = wanted;
        divided.options.method = ChunkMethod::classifier;
        return divide_text(with_model, text, divided);
      }
      count_with_model(with_model, text, wanted);
    });
  }
  count_with_model(call, std::move(text), wanted);
}

}  // namespace

Route native_chunk_route() {
  return {.method = Method::post,
          .path = "/api/chunk",
          .family = Family::native,
          .id = "chunk",
          .summary = "Cuts a text into chunks",
          .handle = chunk_text,
          .body = route_schema(Family::native, "chunk_body"),
          .answers = {{.description = "The chunks, in the order of the text.",
                       .schema = route_schema(Family::native, "chunk_answer")}},
          .computes = true,
          .aliases = {"/ai/v1/chunk"}};
}

}  // namespace alate::server
