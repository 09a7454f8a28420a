// Rows of pairs that a template writes: text_rows.h for conversations.
#pragma once

#include <span>
#include <string_view>

#include "base/threads/cancellation.h"
#include "pipelines/calls/text_rows.h"
#include "pipelines/rerank/pair_template.h"

namespace alate::pipelines {

/// Renders and tokenizes each document with the query of `pairs`, in parallel on the shared pool. Of a row that is too
/// long only the document is cut or read in windows: what the template writes around it stays. Throws invalid_argument
/// where that leaves no room, as PairTemplate::render and row_length, resource_exhausted for too many tokens, and
/// cancelled.
TextRows make_template_rows(const TextModel& model, const TemplatePairs& pairs,
                            std::span<const std::string_view> documents, LongTextOptions options, TokenBudget& budget,
                            const base::Cancellation& cancellation);

}  // namespace alate::pipelines
