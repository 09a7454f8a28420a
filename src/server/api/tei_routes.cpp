#include <algorithm>
#include <span>
#include <utility>

#include "alate/embedding_kinds.h"
#include "base/threads/thread_pool.h"
#include "pipelines/embed/embedding_rows.h"
#include "pipelines/tasks/label_names.h"
#include "server/api/answer.h"
#include "server/api/background.h"
#include "server/api/classify.h"
#include "server/api/family_routes.h"
#include "server/api/fill.h"
#include "server/api/rerank.h"
#include "server/api/route_schemas.h"
#include "server/api/tei.h"
#include "server/api/text_inputs.h"
#include "server/exchange/json_response.h"
#include "server/exchange/refuse.h"
#include "server/models/services.h"
#include "tokenizers/encode.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::server {
namespace {

using formats::Json;

// /tokenize answers with some 75 bytes per token, and /decode with a word per id: these bound the size of their
// answers.
constexpr std::size_t kMaxTokenizeBytes = std::size_t{1} << 20;
constexpr std::size_t kMaxDecodeIds = std::size_t{1} << 20;

[[noreturn]] void refuse_empty(const std::string& name) {
  refuse(Problem::Kind::empty, name + " is an empty list; it must hold at least one entry", name);
}

void check_count(const Call& call, std::size_t count, const std::string& name) {
  if (count == 0) refuse_empty(name);
  if (count <= call.services.settings.max_inputs) return;
  refuse(Problem::Kind::too_many,
         name + " has " + std::to_string(count) + " entries; this server takes " +
             std::to_string(call.services.settings.max_inputs) + " in one request: send several",
         name);
}

// Options shared by /embed and /similarity; `options` is the object that contains them.
void read_options(const Json& options, EmbedRequest& request) {
  read_tei_truncation(options, request);
  request.prompt_name = options.get_string("prompt_name", "");
}

// Vectors of another model than the one that the settings name would silently be compared with that one's.
const ModelPurpose kVectors = {.tasks = {pipelines::Task::embed}, .kind = std::nullopt, .keeps_default = true};

// The members that /embed, /embed_all and /embed_sparse have in common.
EmbedRequest request_of(const Call& call) {
  EmbedRequest request;
  request.model = tei_model_of(call);
  request.purpose = kVectors;
  read_options(call.body, request);
  read_inputs(*call.body.find("inputs"), "inputs", request);
  if (request.texts.empty() && request.token_rows.empty()) refuse_empty("inputs");
  return request;
}

void embed_texts(Call& call) {
  EmbedRequest request = request_of(call);
  request.normalize = call.body.get_bool("normalize", true);
  if (const Json* dimensions = call.body.find_value("dimensions"))
    request.dimensions = static_cast<std::size_t>(dimensions->as_int("dimensions"));
  embed(call, std::move(request), [](EmbedAnswer answer) { return itemized_response(tei_vectors(std::move(answer))); });
}

void embed_tokens(Call& call) {
  EmbedRequest request = request_of(call);
  request.per_token = true;
  embed(call, std::move(request),
        [](EmbedAnswer answer) { return itemized_response(tei_token_vectors(std::move(answer))); });
}

void embed_sparse(Call& call) {
  EmbedRequest request = request_of(call);
  request.kinds = EmbeddingKinds::only(EmbeddingKind::sparse);
  request.purpose = {.tasks = {pipelines::Task::embed}, .kind = EmbeddingKind::sparse};
  embed(call, std::move(request), [](EmbedAnswer answer) { return itemized_response(tei_sparse(std::move(answer))); });
}

void compare_texts(Call& call) {
  const Json& inputs = *call.body.find("inputs");
  EmbedRequest request;
  request.model = tei_model_of(call);
  request.purpose = kVectors;
  request.parameter = "inputs";
  if (const Json* options = call.body.find("parameters"); options != nullptr) read_options(*options, request);
  request.texts.push_back(inputs.get_string("source_sentence", ""));
  const Json::Array& sentences = inputs.find("sentences")->as_array("inputs.sentences");
  if (sentences.empty()) refuse_empty("inputs.sentences");
  for (const Json& sentence : sentences) request.texts.push_back(sentence.as_string("inputs.sentences"));
  embed(call, std::move(request), [](const EmbedAnswer& answer) { return json_response(tei_similarities(answer)); });
}

// What the parameters of a request for texts are about; else any model will do.
ModelPurpose purpose_of_inputs(const Json& body) {
  const ModelPurpose prediction = purpose_of_prediction(body);
  if (prediction.tasks.size() == 1) return prediction;
  const Json* parameters = body.find_value("parameters");
  const bool fills = parameters != nullptr && parameters->find_value("targets") != nullptr;
  return fills ? ModelPurpose{.tasks = {pipelines::Task::fill}} : ModelPurpose();
}

// Dispatches by the body, and by the model where several tasks have such a body.
void serve_model(Call& call) {
  const Json* inputs = call.body.find("inputs");
  if (inputs == nullptr || inputs->is_null()) {
    if (call.body.find_value("query") != nullptr) return rerank_as_tei(call);
    refuse(Problem::Kind::invalid, "inputs is missing; of a reranker, query and texts are", "inputs");
  }
  if (inputs->is_object())
    return inputs->find("question") != nullptr ? answer_as_hugging_face(call) : compare_texts(call);
  go_on_with_model(
      call, tei_model_of(call),
      [](Call& with_texts, const HostedModel& model) {
        const pipelines::Task task = model.pipelines.tasks().front();
        if (task == pipelines::Task::classify || task == pipelines::Task::recognize) return predict_as_tei(with_texts);
        if (has_masks(model, *with_texts.body.find("inputs"))) return fill_as_hugging_face(with_texts);
        embed_texts(with_texts);
      },
      purpose_of_inputs(call.body));
}

std::string pooling_name(const pipelines::EmbeddingModules& modules) {
  std::string name;
  for (const graph::PoolMode mode : modules.pooling()) {
    if (!name.empty()) name += '+';
    name += mode == graph::PoolMode::last ? "last_token" : std::string(graph::to_string(mode));
  }
  return name;
}

Json labels_of(const Json& config) {
  pipelines::LabelTables tables = pipelines::label_tables(config);
  return Json::Object{{"id2label", std::move(tables.id2label)}, {"label2id", std::move(tables.label2id)}};
}

// The main task's: one member.
Json type_of(const pipelines::TaskPipelines& model) {
  if (const EmbeddingPipeline* embedding = model.find_embedding()) {
    const EmbeddingPipeline::State& state = embedding->state();
    const bool is_splade = state.kinds.splade && !state.kinds.is_dense;
    const std::string pooling = is_splade ? "splade" : pooling_name(state.modules);
    return Json::Object{{"embedding", Json::Object{{"pooling", pooling}}}};
  }
  const pipelines::Task task = model.tasks().front();
  const bool has_labels = task != pipelines::Task::answer;
  return Json::Object{{std::string(pipelines::model_type(task)),
                       has_labels ? labels_of(model.model().state().config) : Json(Json::Object{})}};
}

void show_info(Call& call) {
  answer_with_model(call, tei_model_of(call), [&services = call.services](const HostedModel& hosted) {
    const pipelines::TaskPipelines& model = hosted.pipelines;
    const Settings& settings = services.settings;
    return json_response(Json(Json::Object{
        {"model_id", hosted.name},
        {"model_sha", Json()},
        {"model_dtype", model.facts().dtype},
        {"served_model_name", hosted.name},
        {"model_type", type_of(model)},
        {"max_concurrent_requests", std::uint64_t{settings.max_concurrent_requests}},
        {"max_input_length", std::uint64_t{model.max_length()}},
        {"max_batch_tokens", std::uint64_t{settings.batch_max_tokens}},
        {"max_batch_requests", Json()},
        {"max_client_batch_size", std::uint64_t{settings.max_inputs}},
        {"auto_truncate", true},
        {"tokenization_workers", std::uint64_t{base::ThreadPool::shared().size()}},
        {"version", services.version},
        {"sha", Json()},
        {"docker_label", Json()},
    }));
  });
}

std::string prompt_of(const pipelines::TaskPipelines& model, const std::string& asked) {
  static const pipelines::EmbeddingModules none;  // a reranker has no prompts
  const EmbeddingPipeline* embedding = model.find_embedding();
  const pipelines::EmbeddingModules& modules = embedding == nullptr ? none : embedding->state().modules;
  const std::string& name = asked.empty() ? modules.default_prompt : asked;
  if (name.empty()) return "";
  const auto prompt = modules.prompts.find(name);
  if (prompt != modules.prompts.end()) return prompt->second;
  std::string known;
  for (const auto& [each, text] : modules.prompts) known += (known.empty() ? "" : ", ") + each;
  refuse(Problem::Kind::impossible,
         "prompt_name " + formats::quoted_name(name) + " is no prompt of the model, which has " +
             (known.empty() ? "none" : known),
         "prompt_name");
}

void tokenize_texts(Call& call) {
  EmbedRequest request;
  read_inputs(*call.body.find("inputs"), "inputs", request);
  if (!request.token_rows.empty()) refuse(Problem::Kind::invalid, "inputs must be texts", "inputs");
  check_count(call, request.texts.size(), "inputs");
  std::size_t bytes = 0;
  for (const std::string& text : request.texts) bytes += text.size();
  if (bytes > kMaxTokenizeBytes) {
    refuse(Problem::Kind::too_large,
           "inputs have " + std::to_string(bytes) + " bytes of text; this route takes " +
               std::to_string(kMaxTokenizeBytes) + " in one request: send several",
           "inputs");
  }
  answer_with_model(
      call, tei_model_of(call),
      [texts = std::move(request.texts), special = call.body.get_bool("add_special_tokens", true),
       prompt_name = call.body.get_string("prompt_name", ""), exchange = call.exchange](const HostedModel& hosted) {
        const Tokenizer& tokenizer = hosted.tokenizer();
        const std::string prompt = prompt_of(hosted.pipelines, prompt_name);
        if (prompt.size() > kMaxTokenizeBytes / std::max<std::size_t>(texts.size(), 1))
          refuse(Problem::Kind::too_large,
                 "the prompt of " + std::to_string(prompt.size()) + " bytes would be read with each of " +
                     std::to_string(texts.size()) + " inputs; this route takes " + std::to_string(kMaxTokenizeBytes) +
                     " bytes in one request: send several",
                 "inputs");
        EncodeOptions options;
        options.add_special_tokens = special;
        std::string out = "[";
        for (std::size_t i = 0; i < texts.size(); ++i) {
          if (i > 0) out += ',';
          const std::string text = prompt + texts[i];
          append_tei_tokens(out, tokenizers::encode(tokenizer, text, options, exchange->cancellation()), text);
        }
        return json_response(out += ']');
      });
}

void decode_ids(Call& call) {
  const Json::Array& list = call.body.find("ids")->as_array("ids");
  EmbedRequest request;
  std::size_t count = 0;
  if (list.empty()) {
    request.token_rows.emplace_back();  // one text without tokens, as text-embeddings-inference interprets it
  } else {
    read_inputs(*call.body.find("ids"), "ids", request);
  }
  check_count(call, request.token_rows.size(), "ids");
  for (const auto& row : request.token_rows) count += row.size();
  if (count > kMaxDecodeIds) {
    refuse(Problem::Kind::too_large,
           "ids has " + std::to_string(count) + " ids; this route takes " + std::to_string(kMaxDecodeIds) +
               " in one request: send several",
           "ids");
  }
  answer_with_model(call, tei_model_of(call),
                    [rows = std::move(request.token_rows), skip = call.body.get_bool("skip_special_tokens", true),
                     exchange = call.exchange](const HostedModel& hosted) {
                      const Tokenizer& tokenizer = hosted.tokenizer();
                      std::string out = "[";
                      for (const auto& row : rows) {
                        exchange->cancellation().check();
                        if (out.size() > 1) out += ',';
                        const std::string text = tokenizer.decode(row, skip);
                        formats::append_json_string(out, tokenizers::repair_utf8(text).value_or(text));
                      }
                      return json_response(out += ']');
                    });
}

}  // namespace

std::vector<Route> tei_routes() {
  return {
      {.method = Method::post,
       .path = "/embed",
       .family = Family::tei,
       .id = "teiEmbed",
       .summary = "Turns texts into vectors, as text-embeddings-inference does",
       .handle = embed_texts,
       .body = route_schema(Family::tei, "embed_body"),
       .answers = {{.description = "The vectors, in the order of the inputs",
                    .schema = route_schema(Family::tei, "vectors")}},
       .computes = true,
       .aliases = {"/models/{model}/embed", "/models/{model}/pipeline/feature-extraction"}},
      {.method = Method::post,
       .path = "/embed_all",
       .family = Family::tei,
       .id = "teiEmbedAll",
       .summary = "Turns each token of texts into a vector: the model's last layer, before pooling",
       .handle = embed_tokens,
       .body = route_schema(Family::tei, "embed_all_body"),
       .answers = {{.description = "A list of vectors for each text, one for each token, special ones included",
                    .schema = route_schema(Family::tei, "token_vectors")}},
       .computes = true,
       .aliases = {"/models/{model}/embed_all"}},
      {.method = Method::post,
       .path = "/embed_sparse",
       .family = Family::tei,
       .id = "teiEmbedSparse",
       .summary = "Turns texts into weights of the vocabulary's entries: SPLADE, the lexical weights of bge-m3",
       .handle = embed_sparse,
       .body = route_schema(Family::tei, "embed_all_body"),
       .answers = {{.description = "The weights of each text that are not 0",
                    .schema = route_schema(Family::tei, "sparse")}},
       .computes = true,
       .aliases = {"/models/{model}/embed_sparse"}},
      {.method = Method::post,
       .path = "/similarity",
       .family = Family::tei,
       .id = "teiSimilarity",
       .summary = "Compares a sentence with others: the cosines of their vectors",
       .handle = compare_texts,
       .body = route_schema(Family::tei, "similarity_body"),
       .answers = {{.description = "A number for each sentence", .schema = route_schema(Family::tei, "numbers")}},
       .computes = true,
       .aliases = {"/models/{model}/similarity", "/models/{model}/pipeline/sentence-similarity"}},
      tei_rerank_route(),
      tei_predict_route(),
      {.method = Method::post,
       .path = "/",
       .family = Family::tei,
       .id = "teiDefaultModel",
       .summary = "What the default model is for: vectors of texts, their labels, similarities of sentences, filled "
                  "masks, answers to "
                  "questions, or ranks of texts",
       .handle = serve_model,
       .body = route_schema(Family::tei, "model_body"),
       .answers = {{.description = "Vectors, labels, a number for each sentence, filled masks, answers, or ranks",
                    .schema = route_schema(Family::tei, "model_answer")}},
       .computes = true},
      {.method = Method::post,
       .path = "/models/{model}",
       .family = Family::tei,
       .id = "teiModel",
       .summary =
           "What the model is for: vectors of texts, their labels, similarities of sentences, filled masks, answers to "
           "questions, or ranks of texts",
       .handle = serve_model,
       .body = route_schema(Family::tei, "model_body"),
       .answers = {{.description = "Vectors, labels, a number for each sentence, filled masks, answers, or ranks",
                    .schema = route_schema(Family::tei, "model_answer")}},
       .computes = true},
      {.method = Method::post,
       .path = "/tokenize",
       .family = Family::tei,
       .id = "teiTokenize",
       .summary = "The tokens of texts, at most 1 MiB of them",
       .handle = tokenize_texts,
       .body = route_schema(Family::tei, "tokenize_body"),
       .answers = {{.description =
                        "A list of tokens for each text; start and stop count its bytes, the prompt before it",
                    .schema = route_schema(Family::tei, "tokens")}},
       .computes = true,
       .aliases = {"/models/{model}/tokenize"}},
      {.method = Method::post,
       .path = "/decode",
       .family = Family::tei,
       .id = "teiDecode",
       .summary = "The texts of token ids, at most 1,048,576 of them",
       .handle = decode_ids,
       .body = route_schema(Family::tei, "decode_body"),
       .answers = {{.description = "A text for each list; ids that no token has are left out",
                    .schema = route_schema(Family::tei, "texts")}},
       .computes = true,
       .aliases = {"/models/{model}/decode"}},
      {.method = Method::get,
       .path = "/info",
       .family = Family::tei,
       .id = "teiInfo",
       .summary = "Facts about the default model and the limits of the server",
       .handle = show_info,
       .answers = {{.description = "The facts", .schema = route_schema(Family::tei, "info")}},
       .computes = true,
       .aliases = {"/models/{model}/info"}},
  };
}

}  // namespace alate::server
