// Chat templates of known families of models, for models that come without one.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "tokenizers/chat_templates/sources/model_signs.h"

namespace alate::tokenizers::chat_templates {

/// How a family writes conversations of texts, and the signs by which its chat models are told from base models. A sign
/// that is empty is not looked at. Lists are separated by spaces.
struct KnownFamily {
  std::string_view name = {};
  std::string_view architectures = {};
  std::string_view tokens = {};      // that the vocabulary has
  std::string_view not_tokens = {};  // that it lacks
  std::size_t vocabulary = 0;        // tokens; 0: any number
  // One of these two, where base models have the tokens too.
  std::string_view end_of_turn = {};  // a token that ends what the model generates
  std::string_view words = {};        // of the model's name, all of them
  bool alternates = false;            // between user and assistant, after a system message
  std::string_view turns = {};        // the template without checks
};

/// The family that all signs show; null for any other model.
const KnownFamily* find_family(const ModelSigns& signs);

/// Its whole template. Tools, documents and contents that are no texts are errors.
std::string template_of(const KnownFamily& family);

}  // namespace alate::tokenizers::chat_templates
