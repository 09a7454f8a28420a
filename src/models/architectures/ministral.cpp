// Ministral, Ministral 3, and Mistral's models that see images too (Mistral Small 3.1, Ministral 3), of which this is
// the text part.
#include <string>

#include "alate/error.h"
#include "models/blocks/decoder.h"
#include "models/blocks/mistral_config.h"

namespace alate::models {
namespace {

using formats::Json;

RotaryConfig text_config(const Json& json) {
  const Json& text = text_part(json);
  const std::string type = text.get_string("model_type", "mistral");
  if (type == "mistral") return read_mistral_config(text);
  if (type == "ministral") return read_ministral_config(text);
  if (type == "ministral3") return read_ministral3_config(text);
  throw make_error(ErrorCode::unsupported, "config.json: the text_config's model_type '", type,
                   "' is not built here, only mistral, ministral and ministral3: ", type);
}

}  // namespace

Architecture ministral() {
  Architecture row = decoder<read_ministral_config>("ministral", "Ministral", "Ministral-8B-Instruct-2410");
  row.also_read = "`rope_theta` and `rope_scaling`, or `rope_parameters`; `layer_types`, `sliding_window` null";
  return row;
}

Architecture ministral3() {
  Architecture row = decoder<read_ministral3_config>("ministral3", "Ministral3", "the text part of Ministral-3-3B");
  row.also_read = "`rope_theta` and `rope_scaling`, or `rope_parameters`, with `llama_4_scaling_beta`";
  return row;
}

Architecture mistral3() {
  return wrapped_decoder<text_config>("mistral3", "Mistral3",
                                      "Mistral-Small-3.1-24B-Instruct, Ministral-3-3B: their text part");
}

}  // namespace alate::models
