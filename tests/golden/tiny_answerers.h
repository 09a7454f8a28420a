// The models for question answering that tests/golden/record_answer.py recorded: as folders to load, and the answers
// that transformers' pipeline found with them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "alate/answer.h"
#include "base/files/mapped_file.h"
#include "formats/json.h"
#include "tests/golden/golden_folder.h"
#include "tests/golden/tiny_weights.h"
#include "tests/source_folder.h"

namespace alate::tests {

struct RecordedAnswers {
  AnswerOptions options;
  std::vector<std::vector<Answer>> answers;  // of each text; without bytes
};

struct RecordedAnswerer {
  std::string question;
  std::vector<std::string> texts;
  std::vector<RecordedAnswers> runs;
};

inline AnswerOptions recorded_options(const formats::Json& json) {
  AnswerOptions options;
  options.top_k = static_cast<std::size_t>(json.get_int("top_k", 1));
  options.max_answer_length = static_cast<std::size_t>(json.get_int("max_answer_len", 15));
  options.no_answer = json.get_bool("handle_impossible_answer", false);
  options.align_to_words = json.get_bool("align_to_words", true);
  if (const formats::Json* length = json.find("max_seq_len"))
    options.long_texts.max_length = static_cast<std::size_t>(length->as_int("max_seq_len"));
  if (const formats::Json* stride = json.find("doc_stride"))
    options.long_texts.stride = static_cast<std::size_t>(stride->as_int("doc_stride"));
  return options;
}

/// Writes the model `name` ("word_piece", "byte_level", "sentence_piece", "question_last") into `folder`, and returns
/// what was recorded.
inline RecordedAnswerer write_tiny_answerer(const std::filesystem::path& folder,
                                            const std::string& name = "word_piece") {
  const std::filesystem::path goldens = source_folder() / "tests/golden", recorded = golden_folder("answerers/" + name);
  const formats::Json json = formats::parse_json(base::read_text_file(recorded / "case_texts.json"), name);
  write_tiny_model(recorded, folder);
  std::filesystem::copy(goldens / "tokenizer_corpus" / json.get_string("tokenizer", ""), folder / "tokenizer.json");
  RecordedAnswerer made{.question = json.get_string("question", ""), .texts = {}, .runs = {}};
  for (const formats::Json& text : json.find("texts")->as_array("texts")) made.texts.push_back(text.as_string("text"));
  for (const formats::Json& run : json.find("runs")->as_array("runs")) {
    RecordedAnswers& kept = made.runs.emplace_back();
    kept.options = recorded_options(*run.find("options"));
    for (const formats::Json& text : run.find("answers")->as_array("answers")) {
      std::vector<Answer>& answers = kept.answers.emplace_back();
      for (const formats::Json& each : text.as_array("text")) {
        const formats::Json::Array& fields = each.as_array("answer");
        Answer& answer = answers.emplace_back();
        answer.start = static_cast<std::size_t>(fields[0].as_int("start"));
        answer.end = static_cast<std::size_t>(fields[1].as_int("end"));
        answer.score = static_cast<float>(fields[2].as_double("score"));
        answer.text = fields[3].as_string("text");
      }
    }
  }
  return made;
}

}  // namespace alate::tests
