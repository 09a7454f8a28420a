#include "server/api/kserve/kserve_infer.h"

#include <memory>
#include <utility>

#include "server/api/background.h"
#include "server/api/kserve/kserve_forward.h"
#include "server/api/kserve/kserve_tasks.h"
#include "server/api/kserve/kserve_tensors.h"
#include "server/api/kserve/kserve_version.h"
#include "server/exchange/refuse.h"
#include "server/models/services.h"

namespace alate::server {
namespace {

constexpr std::size_t kMaxTokens = 65536;                  // batch × length, because forward pads
constexpr std::size_t kSmallBody = std::size_t{16} << 10;  // parsed on the current thread

void check_content_type(const Request& request) {
  const std::string* type = request.headers.find("Content-Type");
  if (type == nullptr) return;
  const std::string media = media_type(*type);
  if (media.empty() || media == "application/json" || media == "application/octet-stream") return;
  Problem problem;
  problem.kind = Problem::Kind::wrong_type;
  problem.message =
      "the body must be application/json, or application/octet-stream with binary data; the header "
      "Content-Type says " +
      formats::quoted_name(media);
  problem.accepted = "application/json, application/octet-stream";
  throw RequestError(std::move(problem));
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
    kserve_task(call, model, std::move(parsed));
  } else {
    refuse(Problem::Kind::invalid,
           "there is no input text, for which the model's task is run, and no input_ids, which go through the encoder",
           "inputs");
  }
}

}  // namespace

void kserve_infer(Call& call) {
  check_content_type(call.exchange->request());
  if (call.exchange->request().body.size() <= kSmallBody) return infer(call);
  go_on_in_background(call, [kept = std::make_shared<Call>(call)] { infer(*kept); });
}

}  // namespace alate::server
