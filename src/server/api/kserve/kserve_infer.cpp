#include "server/api/kserve/kserve_infer.h"

#include <exception>
#include <memory>
#include <utility>

#include "server/api/kserve/kserve_forward.h"
#include "server/api/kserve/kserve_response.h"
#include "server/api/kserve/kserve_tensors.h"
#include "server/api/kserve/kserve_version.h"
#include "server/failure.h"
#include "server/models/embed_service.h"
#include "server/refuse.h"
#include "server/services.h"

namespace alate::server {
namespace {

using formats::Json;

constexpr std::size_t kMaxTokens = 65536;                  // batch × length, because forward pads
constexpr std::size_t kSmallBody = std::size_t{16} << 10;  // parsed on the current thread

[[noreturn]] void invalid(std::string message, std::string parameter) {
  refuse(Problem::Kind::invalid, std::move(message), std::move(parameter));
}

void check_content_type(const Request& request) {
  const std::string* type = request.headers.find("Content-Type");
  if (type == nullptr) return;
  const std::string media = media_type(*type);
  if (media.empty() || media == "application/json" || media == "application/octet-stream") return;
  refuse(Problem::Kind::wrong_type, "the body must be application/json, or application/octet-stream with binary data");
}

/// Embeds texts, as in every other family.
void embed_tensor(Call& call, const std::string& model, InferRequest request) {
  InferTensor& tensor = request.inputs.front();
  if (request.inputs.size() > 1) invalid("the input text stands alone; there are others beside it", "inputs");
  if (!tensor.holds_texts()) invalid("the input text must have the datatype BYTES", "inputs");
  if (tensor.shape.empty() || tensor.shape.size() > 2 || (tensor.shape.size() == 2 && tensor.shape[1] != 1))
    invalid("the input text must have the shape [n] or [n, 1]", "inputs");
  const std::vector<InferOutput> outputs = request.chosen_outputs({"sentence_embedding"});

  EmbedRequest embedding;
  embedding.model = model;
  embedding.backend = request.parameters.get_string("backend", "");
  embedding.parameter = "text";
  embedding.texts = std::move(tensor.texts);
  if (const Json* truncate = request.parameters.find_value("truncate")) {
    if (!truncate->is_bool()) invalid("parameters.truncate must be true or false", "parameters");
    embedding.truncate = truncate->as_bool("truncate");
  }
  embed(call, std::move(embedding), [model, id = request.id, binary = outputs.front().binary](EmbedAnswer answer) {
    if (!binary) check_json_numbers(answer.vectors.size());
    const auto vectors = std::make_shared<const std::vector<float>>(std::move(answer.vectors));
    const InferResult result{
        .name = "sentence_embedding",
        .shape = {static_cast<std::int64_t>(answer.rows), static_cast<std::int64_t>(answer.dimensions)},
        .values = *vectors,
        .owner = vectors,
        .binary = binary};
    Json parameters;
    if (!answer.truncated.empty()) parameters = Json::Object{{"truncated", std::uint64_t{answer.truncated.size()}}};
    return infer_response(model, id, {&result, 1}, parameters);
  });
}

void infer(Call& call) {
  const Request& request = call.exchange->request();
  const InferLimits limits{.max_texts = call.services.settings.max_inputs, .max_numbers = kMaxTokens};
  InferRequest parsed =
      parse_infer_request(request.body, request.headers.find("Inference-Header-Content-Length"), limits);
  call.exchange->release_body();
  check_version(call, parsed.model_version);
  const std::string& model = call.parameters.at("model");
  if (parsed.input("input_ids") != nullptr) {
    kserve_forward(call, model, std::move(parsed));
  } else if (parsed.input("text") != nullptr) {
    embed_tensor(call, model, std::move(parsed));
  } else {
    invalid("there is no input text, which makes a sentence_embedding, and no input_ids, which go through the encoder",
            "inputs");
  }
}

}  // namespace

void kserve_infer(Call& call) {
  check_content_type(call.exchange->request());
  if (call.exchange->request().body.size() <= kSmallBody) return infer(call);
  call.services.work.push([kept = std::make_shared<Call>(call)] {
    if (kept->exchange->abandoned()) return;
    try {
      infer(*kept);
    } catch (...) {
      fail(*kept->exchange, kept->route.family, std::current_exception());
    }
  });
}

}  // namespace alate::server
