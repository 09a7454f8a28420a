#include "search/index_writer.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <utility>

#include "base/files/atomic_file.h"
#include "formats/json.h"
#include "formats/safetensors/safetensors_writer.h"
#include "search/sparse_lists.h"
#include "search/vector_table.h"

namespace alate::search {
namespace {

using formats::Json;
using formats::StreamedTensor;
using Sink = StreamedTensor::Sink;

std::string files_json(const std::vector<FileEntry>& files) {
  Json::Array list;
  for (const FileEntry& file : files) {
    Json::Object entry{{"name", file.name}, {"sha256", file.sha256}, {"passages", std::uint64_t{file.passages}}};
    if (file.first > 0) entry.emplace_back("first", std::uint64_t{file.first});
    if (file.continues) entry.emplace_back("continues", true);
    list.emplace_back(std::move(entry));
  }
  return formats::to_json_text(Json(std::move(list)));
}

std::map<std::string, std::string> metadata_of(const IndexForm& form, const std::vector<FileEntry>& files) {
  return {{"alate_index", std::string(kIndexVersion)},
          {"identity", form.origin.identity},
          {"model", form.origin.model},
          {"files", files_json(files)}};
}

template <typename T>
void give(const Sink& sink, std::span<const T> values) {
  sink(std::as_bytes(values));
}

// Float32 rows as one of the tensors of another precision.
enum class RowPart : std::uint8_t { bytes, scales, bits };

void give_rounded(const Sink& sink, RowPart part, std::span<const float> vectors, std::size_t width) {
  std::vector<std::int8_t> bytes(width);
  std::vector<std::uint8_t> bits(bit_row_bytes(width));
  for (; !vectors.empty(); vectors = vectors.subspan(width)) {
    const std::span<const float> row = vectors.first(width);
    if (part == RowPart::bits) {
      take_signs(row, bits);
      give(sink, std::span<const std::uint8_t>(bits));
      continue;
    }
    const float scale = round_to_bytes(row, bytes);
    if (part == RowPart::bytes) {
      give(sink, std::span<const std::int8_t>(bytes));
    } else {
      give(sink, std::span(&scale, 1));
    }
  }
}

void give_vectors(const Sink& sink, RowPart part, Precision wanted, const VectorTable& table, std::size_t first,
                  std::size_t count) {
  const std::size_t width = table.dimensions, bit_bytes = bit_row_bytes(width);
  if (table.precision == Precision::float32) {
    const auto rows = table.floats.subspan(first * width, count * width);
    if (wanted == Precision::float32) return give(sink, rows);
    return give_rounded(sink, part, rows, width);
  }
  switch (part) {
    case RowPart::bytes: return give(sink, table.bytes.subspan(first * width, count * width));
    case RowPart::scales: return give(sink, table.scales.subspan(first, count));
    case RowPart::bits: return give(sink, table.bits.subspan(first * bit_bytes, count * bit_bytes));
  }
}

using GiveVectors = std::function<void(const Sink& sink, RowPart part)>;

std::vector<StreamedTensor> vector_tensors(Precision precision, std::size_t rows, std::size_t width,
                                           const GiveVectors& vectors) {
  const auto count = static_cast<std::int64_t>(rows), numbers = static_cast<std::int64_t>(width);
  const auto part = [&](RowPart which) { return [&vectors, which](const Sink& sink) { vectors(sink, which); }; };
  std::vector<StreamedTensor> tensors;
  const DType dtype = precision == Precision::float32 ? DType::f32 : DType::i8;
  tensors.push_back({"vectors", {dtype, {count, numbers}}, part(RowPart::bytes)});
  if (precision != Precision::float32) tensors.push_back({"scales", {DType::f32, {count}}, part(RowPart::scales)});
  if (precision == Precision::binary)
    tensors.push_back(
        {"bits", {DType::u8, {count, static_cast<std::int64_t>(bit_row_bytes(width))}}, part(RowPart::bits)});
  return tensors;
}

enum class SparsePart : std::uint8_t { passages, weights };
using GiveWeights = std::function<void(const Sink& sink, SparsePart part)>;

void add_sparse_tensors(std::vector<StreamedTensor>& tensors, const std::vector<std::int32_t>& terms,
                        const std::vector<std::int64_t>& ends, const GiveWeights& postings) {
  const auto count = static_cast<std::int64_t>(terms.size()), all = ends.empty() ? 0 : ends.back();
  const auto part = [&](SparsePart which) { return [&postings, which](const Sink& sink) { postings(sink, which); }; };
  tensors.push_back({"sparse_terms", {DType::i32, {count}}, [&terms](const Sink& sink) {
                       give(sink, std::span<const std::int32_t>(terms));
                     }});
  tensors.push_back({"sparse_ends", {DType::i64, {count}}, [&ends](const Sink& sink) {
                       give(sink, std::span<const std::int64_t>(ends));
                     }});
  tensors.push_back({"sparse_passages", {DType::i32, {all}}, part(SparsePart::passages)});
  tensors.push_back({"sparse_weights", {DType::f32, {all}}, part(SparsePart::weights)});
}

void give_place(const Sink& sink, const Place& at, std::size_t file) {
  const std::array<std::int64_t, IndexFile::kPlaceNumbers> numbers = {
      static_cast<std::int64_t>(file), at.start, at.end, at.byte_start, at.byte_end, at.line};
  give(sink, std::span<const std::int64_t>(numbers));
}

StreamedTensor text_tensor(std::size_t bytes, std::function<void(const Sink&)> produce) {
  return {"texts", {DType::u8, {static_cast<std::int64_t>(bytes)}}, std::move(produce)};
}
StreamedTensor end_tensor(std::size_t passages, std::function<void(const Sink&)> produce) {
  return {"text_ends", {DType::i64, {static_cast<std::int64_t>(passages)}}, std::move(produce)};
}
StreamedTensor place_tensor(std::size_t passages, std::function<void(const Sink&)> produce) {
  return {"places",
          {DType::i64, {static_cast<std::int64_t>(passages), static_cast<std::int64_t>(IndexFile::kPlaceNumbers)}},
          std::move(produce)};
}

// Segments of open indexes, one after the other.
class JoinedSegments {
 public:
  JoinedSegments(const std::vector<std::shared_ptr<const IndexFile>>& sources, const std::vector<Segment>& segments)
      : sources_(sources), segments_(segments) {
    for (const Segment& segment : segments) {
      rows_ += segment.count;
      text_bytes_ += source(segment).texts(segment.first, segment.count).size();
    }
  }

  std::size_t rows() const { return rows_; }
  std::size_t text_bytes() const { return text_bytes_; }
  std::size_t dimensions() const { return source(segments_.front()).dimensions(); }

  // Neighbours in one source are one run.
  std::vector<SparseRun> sparse_runs() const {
    std::vector<SparseRun> runs;
    std::size_t row = 0, last_source = 0;
    for (const Segment& segment : segments_) {
      const bool goes_on =
          !runs.empty() && last_source == segment.source && runs.back().first + runs.back().count == segment.first;
      if (goes_on) {
        runs.back().count += segment.count;
      } else {
        runs.push_back({source(segment).sparse(), segment.first, segment.count, row});
      }
      last_source = segment.source;
      row += segment.count;
    }
    return runs;
  }
  void release() const {
    for (const auto& each : sources_) each->release();
  }

  // Gives back what was read of a source before the next one is read.
  void for_each(const std::function<void(const IndexFile& index, const Segment& segment)>& visit) const {
    const IndexFile* last = nullptr;
    for (const Segment& segment : segments_) {
      const IndexFile& index = source(segment);
      if (last != nullptr && last != &index) last->release();
      last = &index;
      // A large index is read and given back piece by piece.
      for (std::size_t at = 0; at < segment.count; at += kPiece) {
        visit(index, {segment.source, segment.first + at, std::min(kPiece, segment.count - at), segment.file});
        if (segment.count > kPiece) index.release();
      }
    }
    if (last != nullptr) last->release();
  }

 private:
  static constexpr std::size_t kPiece = 65536;
  const IndexFile& source(const Segment& segment) const { return *sources_[segment.source]; }

  const std::vector<std::shared_ptr<const IndexFile>>& sources_;
  const std::vector<Segment>& segments_;
  std::size_t rows_ = 0, text_bytes_ = 0;
};

// The inverted lists of runs as one; what is in memory is an entry for each term.
class JoinedSparse {
 public:
  explicit JoinedSparse(std::vector<SparseRun> runs) : runs_(std::move(runs)) {
    for_each_term(runs_, [&](std::int32_t term, const SparseRun&, std::span<const std::int32_t> passages,
                             std::span<const float>) {
      if (terms_.empty() || terms_.back() != term) {
        terms_.push_back(term);
        ends_.push_back(ends_.empty() ? 0 : ends_.back());
      }
      ends_.back() += static_cast<std::int64_t>(passages.size());
    });
  }

  const std::vector<std::int32_t>& terms() const { return terms_; }
  const std::vector<std::int64_t>& ends() const { return ends_; }

  void give_postings(const Sink& sink, SparsePart part) const {
    std::vector<std::int32_t> moved;
    for_each_term(runs_, [&](std::int32_t, const SparseRun& run, std::span<const std::int32_t> passages,
                             std::span<const float> weights) {
      if (part == SparsePart::weights) return give(sink, weights);
      moved.clear();
      for (const std::int32_t passage : passages)
        moved.push_back(static_cast<std::int32_t>(static_cast<std::size_t>(passage) - run.first + run.new_first));
      give(sink, std::span<const std::int32_t>(moved));
    });
  }

 private:
  std::vector<SparseRun> runs_;
  std::vector<std::int32_t> terms_;
  std::vector<std::int64_t> ends_;
};

void give_ends(const Sink& sink, const JoinedSegments& joined) {
  std::int64_t end = 0;
  joined.for_each([&](const IndexFile& index, const Segment& segment) {
    for (std::size_t i = 0; i < segment.count; ++i) {
      end += static_cast<std::int64_t>(index.text(segment.first + i).size());
      give(sink, std::span<const std::int64_t>(&end, 1));
    }
  });
}

}  // namespace

bool can_take(const IndexFile& index, const IndexForm& form) {
  const Precision stored = index.vectors().precision;
  if (form.kinds.dense && (!index.has_dense() || (stored != form.precision && stored != Precision::float32)))
    return false;
  return !form.kinds.sparse || index.has_sparse();
}

void write_index_file(const std::filesystem::path& path, const IndexForm& form, const Passages& passages) {
  const std::size_t rows = passages.size(), width = passages.vectors.size() / rows;
  const SparseLists lists = invert(passages.sparse);
  const VectorTable table{.rows = rows, .dimensions = width, .floats = passages.vectors};
  const GiveVectors vectors = [&](const Sink& sink, RowPart part) {
    give_vectors(sink, part, form.precision, table, 0, rows);
  };
  std::size_t text_bytes = 0;
  for (const std::string& text : passages.texts) text_bytes += text.size();
  std::vector<StreamedTensor> tensors;
  if (form.kinds.dense) tensors = vector_tensors(form.precision, rows, width, vectors);
  const GiveWeights weights = [&](const Sink& sink, SparsePart part) {
    if (part == SparsePart::passages) {
      give(sink, std::span<const std::int32_t>(lists.passages));
    } else {
      give(sink, std::span<const float>(lists.weights));
    }
  };
  if (form.kinds.sparse) add_sparse_tensors(tensors, lists.terms, lists.ends, weights);
  tensors.push_back(place_tensor(rows, [&](const Sink& sink) {
    for (const Place& place : passages.places) give_place(sink, place, static_cast<std::size_t>(place.file));
  }));
  tensors.push_back(end_tensor(rows, [&](const Sink& sink) {
    std::int64_t end = 0;
    for (const std::string& text : passages.texts) {
      end += static_cast<std::int64_t>(text.size());
      give(sink, std::span<const std::int64_t>(&end, 1));
    }
  }));
  tensors.push_back(text_tensor(text_bytes, [&](const Sink& sink) {
    for (const std::string& text : passages.texts) give(sink, std::span<const char>(text));
  }));
  base::AtomicFile file(path);
  formats::write_safetensors(file, tensors, metadata_of(form, passages.files));
  file.commit();
}

void join_index_files(const std::filesystem::path& path, const IndexForm& form, const std::vector<FileEntry>& files,
                      std::vector<std::shared_ptr<const IndexFile>> sources, const std::vector<Segment>& segments) {
  base::AtomicFile file(path);
  {
    const JoinedSegments joined(sources, segments);
    const GiveVectors vectors = [&](const Sink& sink, RowPart part) {
      joined.for_each([&](const IndexFile& index, const Segment& segment) {
        give_vectors(sink, part, form.precision, index.vectors(), segment.first, segment.count);
      });
    };
    std::vector<StreamedTensor> tensors;
    if (form.kinds.dense) tensors = vector_tensors(form.precision, joined.rows(), joined.dimensions(), vectors);
    const JoinedSparse sparse(form.kinds.sparse ? joined.sparse_runs() : std::vector<SparseRun>());
    const GiveWeights weights = [&](const Sink& sink, SparsePart part) {
      sparse.give_postings(sink, part);
      joined.release();
    };
    if (form.kinds.sparse) add_sparse_tensors(tensors, sparse.terms(), sparse.ends(), weights);
    tensors.push_back(place_tensor(joined.rows(), [&](const Sink& sink) {
      joined.for_each([&](const IndexFile& index, const Segment& segment) {
        for (std::size_t i = 0; i < segment.count; ++i) give_place(sink, index.place(segment.first + i), segment.file);
      });
    }));
    tensors.push_back(end_tensor(joined.rows(), [&](const Sink& sink) { give_ends(sink, joined); }));
    tensors.push_back(text_tensor(joined.text_bytes(), [&](const Sink& sink) {
      joined.for_each([&](const IndexFile& index, const Segment& segment) {
        give(sink, std::span<const char>(index.texts(segment.first, segment.count)));
      });
    }));
    formats::write_safetensors(file, tensors, metadata_of(form, files));
  }
  for (const auto& source : sources) source->require_unchanged();
  sources.clear();
  file.commit();
}

}  // namespace alate::search
