#include "runtime/loading/step_program.h"

#include <algorithm>
#include <utility>

#include "alate/error.h"
#include "backends/donation.h"
#include "runtime/batching/packing.h"
#include "runtime/loading/entry_point.h"

namespace alate::runtime {
namespace {

using Ints = std::vector<std::int32_t>;

constexpr auto kRows = static_cast<std::size_t>(kPageRows);

void require_pages(const StepSequence& sequence, const CachePages& cache, std::size_t index) {
  const std::size_t tokens = sequence.cached + sequence.ids.size();
  if (sequence.ids.empty()) throw make_error(ErrorCode::invalid_argument, "sequence ", index, " has no tokens");
  if (sequence.asked > sequence.ids.size())
    throw make_error(ErrorCode::invalid_argument, "sequence ", index, " has ", sequence.ids.size(),
                     " tokens, and logits of ", sequence.asked, " are asked for");
  if (sequence.pages.size() < StepProgram::pages_of(tokens))
    throw make_error(ErrorCode::invalid_argument, "sequence ", index, " has ", sequence.pages.size(), " pages of ",
                     kRows, " tokens for its ", tokens);
  for (const std::int32_t page : sequence.pages) {
    if (page < 0 || page >= cache.pages)
      throw make_error(ErrorCode::invalid_argument, "sequence ", index, " has the page ", page, " of a cache of ",
                       cache.pages);
  }
}

// The pages of each sequence, [sequences, most pages].
Tensor table_of(std::span<const StepSequence> sequences) {
  std::size_t most = 1;
  for (const StepSequence& sequence : sequences) most = std::max(most, sequence.pages.size());
  Ints table;
  for (const StepSequence& sequence : sequences) {
    table.insert(table.end(), sequence.pages.begin(), sequence.pages.end());
    table.resize(table.size() + most - sequence.pages.size());
  }
  return Tensor::from<std::int32_t>({static_cast<std::int64_t>(sequences.size()), static_cast<std::int64_t>(most)},
                                    table);
}

// Where the tokens are written. Tokens that rounding adds are written nowhere.
Tensor slots_of(std::span<const StepSequence> sequences, bool is_rounded) {
  Ints slots;
  for (const StepSequence& sequence : sequences) {
    for (std::size_t i = sequence.cached; i < sequence.cached + sequence.ids.size(); ++i)
      slots.push_back(sequence.pages[i / kRows] * static_cast<std::int32_t>(kRows) +
                      static_cast<std::int32_t>(i % kRows));
  }
  const auto count = static_cast<std::int64_t>(slots.size());
  if (is_rounded) slots.resize(static_cast<std::size_t>(bucket_of(count, models::kFewestTokens)), -1);
  return Tensor::from<std::int32_t>({static_cast<std::int64_t>(slots.size())}, slots);
}

Tensor last_positions(std::span<const StepSequence> sequences) {
  Ints last;
  for (const StepSequence& sequence : sequences)
    last.push_back(static_cast<std::int32_t>(std::max(sequence.cached + sequence.ids.size(), sequence.text)) - 1);
  return Tensor::from<std::int32_t>({static_cast<std::int64_t>(last.size())}, last);
}

// The tokens of the step whose logits are computed.
Tensor asked_of(std::span<const StepSequence> sequences) {
  Ints asked;
  std::size_t end = 0;
  for (const StepSequence& sequence : sequences) {
    end += sequence.ids.size();
    for (std::size_t i = end - sequence.asked; i < end; ++i) asked.push_back(static_cast<std::int32_t>(i));
  }
  return Tensor::from<std::int32_t>({static_cast<std::int64_t>(asked.size())}, asked);
}

}  // namespace

StepProgram::StepProgram(std::unique_ptr<backends::Executable> executable, models::CacheLayout layout,
                         const models::EncoderLimits& limits, Rounding rounding,
                         std::shared_ptr<const formats::WeightSource> weights, CacheBound bound)
    : executable_(std::move(executable)),
      layout_(std::move(layout)),
      limits_(limits),
      rounding_(std::move(rounding)),
      weights_(std::move(weights)),
      bound_(bound) {}

std::size_t StepProgram::pages_of(std::size_t tokens) { return (tokens + kRows - 1) / kRows; }

CachePages StepProgram::make_cache(std::size_t pages) const {
  CachePages cache{.pages = static_cast<std::int64_t>(pages)};
  const std::vector<backends::AliasFacts> aliases = executable_->facts().aliases;
  for (const models::CacheSpec& spec : layout_) {
    Shape shape{spec.dtype, {cache.pages, kPageRows}};
    for (const std::int64_t extent : spec.row) shape.dims.emplace_back(extent);
    const auto alias = std::ranges::find(aliases, spec.name, &backends::AliasFacts::parameter);
    if (alias != aliases.end() && !alias->in_place && shape.byte_count() > backends::kMostCopiedBytes)
      throw make_error(ErrorCode::unsupported, "each step would copy ", spec.name, ", ", shape.byte_count() >> 20,
                       " MiB, since ", alias->copy_reason, ": decode shorter or fewer texts, or on the backend cpu");
    cache.tensors.push_back(Tensor::uninitialized(std::move(shape)));
  }
  return cache;
}

Tensor StepProgram::run(std::span<const StepSequence> sequences, CachePages& cache,
                        const backends::RunOptions& options) const {
  PackedTokens tokens;
  PackingOptions packing;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    const StepSequence& sequence = sequences[i];
    require_pages(sequence, cache, i);
    const std::size_t end = sequence.cached + sequence.ids.size();
    if (end > static_cast<std::size_t>(limits_.positions))
      throw too_long(i, static_cast<std::int64_t>(end), limits_.positions);
    tokens.ids.insert(tokens.ids.end(), sequence.ids.begin(), sequence.ids.end());
    tokens.lengths.push_back(static_cast<std::int32_t>(sequence.ids.size()));
    for (std::size_t place = sequence.cached; place < end; ++place)
      tokens.positions.push_back(static_cast<std::int32_t>(place));
    packing.key_lengths.push_back(static_cast<std::int32_t>(end));
  }
  std::vector<backends::Buffer> inputs = pack(tokens, limits_, packing);
  inputs.emplace_back(table_of(sequences));
  inputs.emplace_back(slots_of(sequences, !rounding_.empty()));
  inputs.emplace_back(last_positions(sequences));
  inputs.emplace_back(asked_of(sequences));
  const std::vector<backends::Buffer> caches(cache.tensors.begin(), cache.tensors.end());
  std::vector<backends::Buffer> outputs = {{}};
  outputs.insert(outputs.end(), caches.begin(), caches.end());
  const std::span<const backends::Port> ports = executable_->inputs();
  std::vector<backends::Buffer> given = rounding_.empty() ? inputs : rounding_.pad(inputs, ports.first(inputs.size()));
  given.insert(given.end(), caches.begin(), caches.end());
  with_unchanged_files(weights_.get(), [&] { executable_->run(given, outputs, options); });
  const Tensor& logits = *outputs.front().host();
  if (rounding_.empty()) return logits;
  return rounding_.cut(logits, executable_->outputs().front(), inputs, ports.first(inputs.size()));
}

}  // namespace alate::runtime
