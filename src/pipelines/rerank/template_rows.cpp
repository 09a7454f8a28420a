#include "pipelines/rerank/template_rows.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "base/threads/thread_pool.h"
#include "runtime/loading/loaded_model.h"
#include "tokenizers/encode.h"
#include "tokenizers/parts.h"

namespace alate::pipelines {
namespace {

using Ids = std::vector<std::int32_t>;

constexpr std::size_t kMostWindowTokens = std::size_t{1} << 24;  // of one document

// A row's tokens: those of the template around those of the document.
struct FramedIds {
  Ids ids;
  std::size_t before = 0, after = 0;

  std::span<const std::int32_t> document() const { return std::span(ids).subspan(before, ids.size() - before - after); }
  Ids around(std::span<const std::int32_t> part) const {
    Ids row(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(before));
    row.insert(row.end(), part.begin(), part.end());
    row.insert(row.end(), ids.end() - static_cast<std::ptrdiff_t>(after), ids.end());
    return row;
  }
};

FramedIds framed_ids(const Tokenizer& tokenizer, const RenderedPair& pair, const base::Cancellation& cancellation) {
  const EncodeOptions options{.add_special_tokens = false, .with_offsets = true, .with_tokens = false};
  Encoding encoding = tokenizers::encode(tokenizer, pair.text, options, cancellation);
  FramedIds framed;
  const auto& places = encoding.byte_offsets;
  while (framed.before < places.size() && places[framed.before].second <= pair.begin) ++framed.before;
  const std::size_t most = places.size() - framed.before;
  while (framed.after < most && places[places.size() - 1 - framed.after].first >= pair.end) ++framed.after;
  framed.ids = std::move(encoding.ids);
  return framed;
}

struct DocumentRows {
  std::vector<Ids> rows;
  bool truncated = false, too_long = false;
};

// REQUIRES: options.treatment.
DocumentRows rows_of(FramedIds framed, std::size_t length, const LongTextOptions& options, TokenBudget& budget) {
  DocumentRows made;
  const LongTexts treatment = *options.treatment;
  if (treatment != LongTexts::windows) budget.take(std::min(framed.ids.size(), length));
  if (framed.ids.size() <= length) {
    if (treatment == LongTexts::windows) budget.take(framed.ids.size());
    made.rows.push_back(std::move(framed.ids));
    return made;
  }
  made.too_long = treatment == LongTexts::error;
  if (made.too_long) return made;
  const std::span<const std::int32_t> document = framed.document();
  const std::size_t taken = framed.before + framed.after;
  if (taken >= length)
    throw make_error(ErrorCode::invalid_argument, "the query and what is written around it have ", taken,
                     " tokens, which leaves no room for texts in rows of ", length, "; shorten the query");
  const std::size_t room = length - taken;
  made.truncated = treatment != LongTexts::windows;
  if (treatment == LongTexts::cut) made.rows.push_back(framed.around(document.first(room)));
  if (treatment == LongTexts::cut_left) made.rows.push_back(framed.around(document.last(room)));
  if (made.truncated) return made;
  const std::size_t stride = options.stride.value_or(room / 4);
  if (stride >= room)
    throw make_error(ErrorCode::invalid_argument, "windows of ", room, " tokens of a text cannot share ", stride,
                     " with the one before; take a smaller stride");
  if (document.size() / (room - stride) > kMostWindowTokens / length)
    throw make_error(ErrorCode::resource_exhausted, "windows that share ", stride, " of ", room,
                     " tokens would be too many for a text of ", document.size(), "; take a smaller stride");
  budget.take(window_count(document.size(), room, stride) * length);
  for (std::size_t begin = 0;; begin += room - stride) {
    const std::span<const std::int32_t> rest = document.subspan(begin);
    made.rows.push_back(framed.around(rest.first(std::min(room, rest.size()))));
    if (rest.size() <= room) return made;
  }
}

}  // namespace

TextRows make_template_rows(const TextModel& model, const TemplatePairs& pairs,
                            std::span<const std::string_view> documents, LongTextOptions options, TokenBudget& budget,
                            const base::Cancellation& cancellation) {
  const std::size_t length = row_length(model, options);
  if (!options.treatment)
    options.treatment = model.tokenizer.parts().stated_side == Side::left ? LongTexts::cut_left : LongTexts::cut;
  std::vector<DocumentRows> made(documents.size());
  base::ThreadPool::shared().parallel_for(
      documents.size(), model.model.state().options.threads, [&](std::size_t i, std::size_t) {
        cancellation.check();
        made[i] = rows_of(framed_ids(model.tokenizer, pairs.of(documents[i]), cancellation), length, options, budget);
      });
  TextRows all;
  for (std::size_t i = 0; i < made.size(); ++i) {
    if (made[i].truncated) all.prepared.truncated.push_back(i);
    if (made[i].too_long) all.too_long.push_back(i);
    for (Ids& ids : made[i].rows) {
      all.inputs.push_back(i);
      all.prepared.rows.push_back({.ids = std::move(ids)});
    }
  }
  return all;
}

}  // namespace alate::pipelines
