#include "runtime/loading/entry_point.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <exception>
#include <iterator>
#include <utility>

#include "alate/error.h"
#include "base/threads/thread_pool.h"

namespace alate::runtime {
namespace {

class PackedTokensFeeder final : public Feeder {
 public:
  PackedTokensFeeder(const models::EncoderLimits& limits, models::TokenPlaces places)
      : limits_(limits), places_(places) {}

  void feed(const PackedTokens& tokens, const PackingOptions& options, const backends::RunOptions&,
            std::vector<backends::Buffer>& inputs) const override {
    std::vector<backends::Buffer> packed = pack(tokens, limits_, options, places_);
    std::ranges::move(packed, std::back_inserter(inputs));
  }

 private:
  models::EncoderLimits limits_;
  models::TokenPlaces places_;
};

class PartsFeeder final : public Feeder {
 public:
  explicit PartsFeeder(const models::RowInputs& kind) : kind_(kind) {}

  void feed(const PackedTokens& tokens, const PackingOptions& options, const backends::RunOptions&,
            std::vector<backends::Buffer>& inputs) const override {
    std::vector<Tensor> packed = kind_.pack(tokens.lengths, options.parts);
    std::ranges::move(packed, std::back_inserter(inputs));
  }

 private:
  const models::RowInputs& kind_;
};

PackedTokens packed(std::span<const BatchRow* const> rows) {
  PackedTokens packed;
  const bool has_types = std::ranges::any_of(rows, [](const BatchRow* row) { return !row->type_ids.empty(); });
  for (const BatchRow* row : rows) {
    packed.ids.insert(packed.ids.end(), row->ids.begin(), row->ids.end());
    packed.lengths.push_back(static_cast<std::int32_t>(row->ids.size()));
    packed.pool_skip.push_back(row->pool_skip);
    if (!has_types) continue;
    packed.type_ids.insert(packed.type_ids.end(), row->type_ids.begin(), row->type_ids.end());
    packed.type_ids.resize(packed.ids.size());
  }
  return packed;
}

PackingOptions options_of(std::span<const BatchRow* const> rows) {
  PackingOptions options;
  for (const BatchRow* row : rows) options.parts.push_back(&row->parts);
  if (std::ranges::all_of(rows, [](const BatchRow* row) { return row->masked_tail == 0; })) return options;
  for (const BatchRow* row : rows)
    options.key_lengths.push_back(static_cast<std::int32_t>(row->ids.size()) - row->masked_tail);
  return options;
}

}  // namespace

std::unique_ptr<const Feeder> feed_packed_tokens(const models::EncoderLimits& limits, models::TokenPlaces places) {
  return std::make_unique<PackedTokensFeeder>(limits, places);
}

std::unique_ptr<const Feeder> feed_parts(const models::RowInputs& kind) { return std::make_unique<PartsFeeder>(kind); }

void with_unchanged_files(const formats::WeightSource* weights, const std::function<void()>& read) {
  if (weights == nullptr) return read();
  try {
    read();
  } catch (...) {
    weights->require_unchanged();
    throw;
  }
  weights->require_unchanged();
}

EntryPoint::EntryPoint(std::unique_ptr<backends::Executable> executable, Feeders feeders,
                       std::span<const models::CountedDim> counted, const graph::DimTable& dims, Rounding rounding,
                       std::shared_ptr<const formats::WeightSource> weights, bool reads_first)
    : executable_(std::move(executable)),
      feeders_(std::move(feeders)),
      rounding_(std::move(rounding)),
      weights_(std::move(weights)),
      reads_first_(reads_first) {
  for (const backends::Port& output : executable_->outputs()) extents_.emplace_back(output.shape, counted, dims);
  grow_with_rows_ = std::ranges::all_of(extents_, &RowExtent::grows_with_rows);
}

backends::ExecutableFacts EntryPoint::facts() const {
  backends::ExecutableFacts facts = executable_->facts();
  for (const auto& feeder : feeders_) facts.weight_bytes += feeder->weight_bytes();
  return facts;
}

std::vector<std::size_t> EntryPoint::row_starts(std::size_t i, const PackedTokens& tokens,
                                                const PackingOptions& options) const {
  const models::RowParts none;
  std::vector<std::size_t> starts = {0};
  for (std::size_t row = 0; row < tokens.lengths.size(); ++row) {
    const models::RowParts& parts = options.parts.empty() ? none : *options.parts[row];
    starts.push_back(starts.back() + extents_[i].of(static_cast<std::size_t>(tokens.lengths[row]), parts));
  }
  return starts;
}

Tensor EntryPoint::make_output(std::size_t i, const PackedTokens& tokens, const PackingOptions& options,
                               bool is_zero) const {
  Shape shape = executable_->outputs()[i].shape;
  if (extents_[i].grows_with_rows()) shape.dims[0] = static_cast<std::int64_t>(row_starts(i, tokens, options).back());
  return is_zero ? Tensor::zeros(std::move(shape)) : Tensor::uninitialized(std::move(shape));
}

std::vector<Tensor> EntryPoint::run(const PackedTokens& tokens, const PackingOptions& options,
                                    const backends::RunOptions& run_options) const {
  if (tokens.ids.empty()) {
    std::vector<Tensor> results;
    for (std::size_t i = 0; i < outputs().size(); ++i) results.push_back(make_output(i, tokens, options, true));
    return results;
  }
  const backends::BatchHint hint = executable_->batch_hint();
  std::size_t workers = hint.workers;
  if (run_options.max_workers != 0) workers = std::min(workers, run_options.max_workers);
  if (workers == 0 || (workers > 1 && run_options.profile != nullptr)) return run_whole(tokens, options, run_options);
  if (!grow_with_rows_) return run_whole(tokens, options, run_options);
  const std::vector<BatchPart> parts = split_batch(checked_lengths(tokens, options), workers, hint.rows_per_worker);
  if (parts.size() == 1) return run_whole(tokens, options, run_options);
  return run_parts(parts, workers, tokens, options, run_options);
}

std::vector<Tensor> EntryPoint::run_parts(std::span<const BatchPart> parts, std::size_t workers,
                                          const PackedTokens& tokens, const PackingOptions& options,
                                          const backends::RunOptions& run_options) const {
  std::vector<Tensor> results;
  std::vector<std::vector<std::size_t>> starts;
  for (std::size_t i = 0; i < outputs().size(); ++i) {
    results.push_back(make_output(i, tokens, options, false));
    starts.push_back(row_starts(i, tokens, options));
  }
  std::vector<std::byte*> bytes;
  for (Tensor& result : results) bytes.push_back(result.mutable_bytes().data());
  backends::RunOptions alone = run_options;
  alone.max_workers = 1;  // a part stays on its thread: split again, it would read the weights again
  const auto run_part = [&](const BatchPart& part) {
    const std::vector<Tensor> rows = run_whole(part_of(tokens, part), part_of(options, part), alone);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::size_t row_bytes = rows[i].byte_count() / static_cast<std::size_t>(rows[i].extent(0));
      std::memcpy(bytes[i] + starts[i][part.first] * row_bytes, rows[i].bytes().data(), rows[i].byte_count());
    }
  };
  // Of several errors, the one of the first rows is thrown, whichever thread is faster.
  std::vector<std::exception_ptr> errors(parts.size());
  std::atomic<std::size_t> first_failed{parts.size()};
  base::ThreadPool::shared().parallel_for(parts.size(), workers, [&](std::size_t index, std::size_t) {
    if (index > first_failed.load()) return;
    try {
      run_part(parts[index]);
    } catch (...) {
      errors[index] = std::current_exception();
      std::size_t first = first_failed.load();
      while (index < first && !first_failed.compare_exchange_weak(first, index)) continue;
    }
  });
  if (first_failed.load() < parts.size()) std::rethrow_exception(errors[first_failed.load()]);
  return results;
}

std::vector<Tensor> EntryPoint::run_whole(const PackedTokens& tokens, const PackingOptions& options,
                                          const backends::RunOptions& run_options) const {
  const std::span<const backends::Port> ports = executable_->outputs();
  std::vector<backends::Buffer> inputs, outputs(ports.size());
  for (const auto& feeder : feeders_) feeder->feed(tokens, options, run_options, inputs);
  std::vector<Tensor> results;
  if (rounding_.empty()) {
    with_unchanged_files(weights_.get(), [&] { executable_->run(inputs, outputs, run_options); });
    for (const backends::Buffer& output : outputs) results.push_back(*output.host());
    return results;
  }
  const std::vector<backends::Buffer> padded = rounding_.pad(inputs, executable_->inputs());
  with_unchanged_files(weights_.get(), [&] { executable_->run(padded, outputs, run_options); });
  for (std::size_t i = 0; i < ports.size(); ++i)
    results.push_back(rounding_.cut(*outputs[i].host(), ports[i], inputs, executable_->inputs()));
  return results;
}

std::size_t EntryPoint::numbers(std::size_t i) const {
  const Shape& shape = outputs()[i].shape;
  std::size_t count = 1;
  for (std::size_t axis = 1; axis < shape.rank(); ++axis) count *= static_cast<std::size_t>(shape.dims[axis].number());
  return count;
}

std::size_t EntryPoint::width(std::size_t i, std::size_t tokens, const models::RowParts& parts) const {
  return numbers(i) * extents_[i].of(tokens, parts);
}

std::size_t EntryPoint::width(const BatchRow& row) const {
  std::size_t width = 0;
  for (std::size_t i = 0; i < extents_.size(); ++i) width += this->width(i, row.ids.size(), row.parts);
  return width;
}

std::size_t EntryPoint::numbers_per_token() const {
  std::size_t sum = 0;
  for (std::size_t i = 0; i < extents_.size(); ++i) sum += is_per_token(i) ? numbers(i) : 0;
  return sum;
}

std::size_t EntryPoint::numbers_per_row() const {
  std::size_t sum = 0;
  for (std::size_t i = 0; i < extents_.size(); ++i) sum += is_per_token(i) ? 0 : numbers(i);
  return sum;
}

Tensor EntryPoint::run_rows(std::span<const BatchRow* const> rows, const backends::RunOptions& run_options) const {
  if (!grow_with_rows_) throw Error(ErrorCode::internal, "an output is of no row, and rows are asked for");
  const std::vector<Tensor> results = run(packed(rows), options_of(rows), run_options);
  if (results.size() == 1) return results.front();  // in the order of the rows already
  std::size_t total = 0;
  for (const BatchRow* row : rows) total += width(*row);
  Tensor all = Tensor::uninitialized({DType::f32, {static_cast<std::int64_t>(total)}});
  auto to = all.mutable_values<float>().begin();
  std::vector<std::span<const float>> rest;
  for (const Tensor& result : results) rest.push_back(result.values<float>());
  for (const BatchRow* row : rows) {
    for (std::size_t i = 0; i < rest.size(); ++i) {
      const std::size_t count = width(i, row->ids.size(), row->parts);
      to = std::ranges::copy(rest[i].first(count), to).out;
      rest[i] = rest[i].subspan(count);
    }
  }
  return all;
}

}  // namespace alate::runtime
