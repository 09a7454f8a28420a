// Any bytes are an index whose passages lie inside it, or refused.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "alate/error.h"
#include "base/threads/cancellation.h"
#include "base/threads/thread_pool.h"
#include "search/index_file.h"
#include "search/matches.h"
#include "search/sparse_lists.h"
#include "search/vector_table.h"
#include "tokenizers/unicode/utf8.h"

using namespace alate;
namespace fs = std::filesystem;

namespace {

// A file of this process.
struct IndexPath {
  IndexPath() {
    std::string pattern = (fs::temp_directory_path() / "alate-fuzz-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    folder = pattern;
    file = folder / "index.safetensors";
  }
  ~IndexPath() {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  }
  fs::path folder, file;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const IndexPath path;
  std::ofstream(path.file, std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  try {
    const search::IndexFile index(path.file);
    const search::QuestionWords words("the cat");
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < index.size(); ++i) {
      if (static_cast<std::size_t>(index.place(i).file) >= index.files().size()) std::abort();
      const std::string text(index.text(i));
      bytes += text.size();
      const auto repaired = tokenizers::repair_utf8(text);
      if (words.in(repaired ? *repaired : text).size() > text.size()) std::abort();
    }
    if (bytes > size) std::abort();
    const search::VectorTable& vectors = index.vectors();
    if (index.has_dense() ? vectors.rows != index.size() : !index.has_sparse()) std::abort();
    SparseEmbedding sparse;
    for (const std::int32_t term : index.sparse().terms) {
      sparse.indices.push_back(term);
      sparse.values.push_back(1);
    }
    for (const search::RowScore& row :
         search::nearest_sparse(index.sparse(), index.size(), sparse, 3, base::Cancellation::never())) {
      if (row.row >= index.size()) std::abort();
    }
    if (!index.has_dense()) return 0;
    // Reads every vector, and compares the answers of one thread and of two.
    std::vector<float> question(vectors.dimensions);
    for (std::size_t i = 0; i < question.size(); ++i) question[i] = i % 3 == 0 ? -1.0F : static_cast<float>(i % 5);
    static base::ThreadPool one(1), two(2);
    const auto nearest = [&](base::ThreadPool& pool) {
      return search::nearest_vectors(vectors, question, 3, pool, base::Cancellation::never());
    };
    const std::vector<search::RowScore> found = nearest(one), again = nearest(two);
    if (found.size() != std::min<std::size_t>(3, index.size()) || found.size() != again.size()) std::abort();
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (found[i].row >= index.size() || found[i].row != again[i].row) std::abort();
    }
  } catch (const Error& error) {
    if (error.code() == ErrorCode::invalid_argument || error.code() == ErrorCode::internal) std::abort();
  }
  return 0;
}
