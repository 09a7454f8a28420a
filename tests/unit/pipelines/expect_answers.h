// What a model for question answering finds, against transformers.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "alate/answer.h"
#include "tests/golden/tiny_answerers.h"
#include "tokenizers/unicode/utf8.h"

namespace alate::tests {

/// Runs one call that record_answer.py recorded.
inline void expect_answers(const AnswerPipeline& pipeline, const RecordedAnswerer& recorded,
                           const RecordedAnswers& run) {
  const Answers found = pipeline.answer(recorded.question, recorded.texts, run.options);
  ASSERT_EQ(found.texts.size(), recorded.texts.size());
  EXPECT_TRUE(found.truncated.empty());
  for (std::size_t i = 0; i < recorded.texts.size(); ++i) {
    const std::string& text = recorded.texts[i];
    SCOPED_TRACE("top_k " + std::to_string(run.options.top_k) + " of " + text);
    ASSERT_EQ(found.texts[i].size(), run.answers[i].size());
    for (std::size_t k = 0; k < found.texts[i].size(); ++k) {
      const Answer &answer = found.texts[i][k], &wanted = run.answers[i][k];
      EXPECT_EQ(answer.text, wanted.text) << k;
      EXPECT_EQ(answer.start, wanted.start) << k;
      EXPECT_EQ(answer.end, wanted.end) << k;
      EXPECT_NEAR(answer.score, wanted.score, 1e-6 + 1e-4 * wanted.score) << k;
      EXPECT_EQ(answer.text, text.substr(answer.byte_start, answer.byte_end - answer.byte_start)) << k;
      EXPECT_EQ(tokenizers::count_code_points(text.substr(0, answer.byte_start)), answer.start) << k;
    }
  }
}

}  // namespace alate::tests
