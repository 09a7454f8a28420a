// A small tokenizer to vary: the text of a tokenizer.json from its parts.
#pragma once

#include <string>
#include <string_view>

#include "alate/tokenizer.h"

namespace alate::tests {

/// The parts of a tokenizer.json, as JSON texts.
struct SmallTokenizer {
  std::string normalizer =
      R"({"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,"strip_accents":null,"lowercase":true})";
  std::string pre_tokenizer = R"({"type":"BertPreTokenizer"})";
  std::string model =
      R"({"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##","max_input_chars_per_word":100,
          "vocab":{"[UNK]":0,"[CLS]":1,"[SEP]":2,"a":3,"b":4,"##b":5,"##c":6,"abc":7,"!":8,"e":9,"##é":10}})";
  std::string added_tokens = "[]";
  std::string post_processor = R"({"type":"BertProcessing","sep":["[SEP]",2],"cls":["[CLS]",1]})";
  std::string decoder = R"({"type":"WordPiece","prefix":"##","cleanup":true})";
  std::string truncation = "null";

  std::string json() const {
    return R"({"version":"1.0","truncation":)" + truncation + R"(,"padding":null,"added_tokens":)" + added_tokens +
           R"(,"normalizer":)" + normalizer + R"(,"pre_tokenizer":)" + pre_tokenizer + R"(,"post_processor":)" +
           post_processor + R"(,"decoder":)" + decoder + R"(,"model":)" + model + "}";
  }
  Tokenizer load() const { return Tokenizer::from_json(json(), "small.json"); }
};

}  // namespace alate::tests
