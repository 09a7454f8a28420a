#include "tokenizers/models/model.h"
#include "tokenizers/models/word_piece.h"

namespace alate::tokenizers {
namespace {

constexpr struct {
  std::string_view type;
  ModelPtr (*make)(const Json& part, std::string_view where);
} kModels[] = {
    {"WordPiece", make_word_piece},
};

// Files older than the member "type" are recognized by their other members.
std::string_view type_of(const Json& part, std::string_view where) {
  if (part.is_object() && part.find("type") == nullptr && part.find("max_input_chars_per_word") != nullptr)
    return "WordPiece";
  return part_type(part, where);
}

}  // namespace

std::vector<std::string_view> model_types() {
  std::vector<std::string_view> types;
  for (const auto& known : kModels) types.push_back(known.type);
  return types;
}

ModelPtr load_model(const Json& part, std::string_view where) {
  const std::string_view type = type_of(part, where);
  for (const auto& known : kModels) {
    if (known.type == type) return known.make(part, where);
  }
  throw_unknown_part("model", type, where);
}

}  // namespace alate::tokenizers
