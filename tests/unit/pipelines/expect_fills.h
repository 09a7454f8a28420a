// What a masked language model finds, against transformers.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "alate/fill.h"
#include "tests/golden/tiny_fillers.h"

namespace alate::tests {

/// Runs one call that record_fill.py recorded.
inline void expect_fills(const FillPipeline& pipeline, const RecordedFiller& recorded, const RecordedFills& run) {
  const Fills found = pipeline.fill(recorded.texts, run.options);
  ASSERT_EQ(found.texts.size(), recorded.texts.size());
  EXPECT_TRUE(found.truncated.empty());
  for (std::size_t i = 0; i < recorded.texts.size(); ++i) {
    SCOPED_TRACE("top_k " + std::to_string(run.options.top_k) + " of " + recorded.texts[i]);
    ASSERT_EQ(found.texts[i].size(), run.fills[i].size());
    for (std::size_t mask = 0; mask < run.fills[i].size(); ++mask) {
      ASSERT_EQ(found.texts[i][mask].size(), run.fills[i][mask].size()) << mask;
      for (std::size_t k = 0; k < run.fills[i][mask].size(); ++k) {
        const Fill &fill = found.texts[i][mask][k], &wanted = run.fills[i][mask][k];
        EXPECT_EQ(fill.id, wanted.id) << mask << ' ' << k;
        EXPECT_EQ(fill.token, wanted.token) << mask << ' ' << k;
        EXPECT_EQ(fill.text, wanted.text) << mask << ' ' << k;
        EXPECT_NEAR(fill.score, wanted.score, 1e-6 + 1e-4 * wanted.score) << mask << ' ' << k;
      }
    }
  }
}

}  // namespace alate::tests
