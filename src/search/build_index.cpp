#include <algorithm>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "alate/search.h"
#include "base/files/file_lock.h"
#include "base/log.h"
#include "base/threads/controlled_call.h"
#include "pipelines/embed/embedding_rows.h"
#include "search/documents.h"
#include "search/index_file.h"
#include "search/index_identity.h"

namespace alate {
namespace {

namespace fs = std::filesystem;
using search::FileEntry;
using search::IndexFile;
using search::Passages;

// A part of new passages is put on disk once it has so many: an interrupted call loses no more.
constexpr std::size_t kPartPassages = 2048;

// The passages of one file in an index or a part.
struct KeptFile {
  std::shared_ptr<const IndexFile> index;
  std::size_t first = 0, count = 0;
};

// Files whose vectors are there already, by name and digest.
class KeptFiles {
 public:
  // Of an index that was made in the same way; others, and broken ones, have none.
  void add(const fs::path& path, const std::string& identity) {
    std::error_code error;
    if (!fs::is_regular_file(path, error)) return;
    try {
      const auto index = std::make_shared<const IndexFile>(path);
      if (index->origin().identity != identity) return;
      std::size_t first = 0;
      for (const FileEntry& file : index->files()) {
        kept_.insert_or_assign(file.name + '\0' + file.sha256, KeptFile{index, first, file.passages});
        first += file.passages;
      }
    } catch (const Error& problem) {
      base::log(base::LogLevel::warn, path.string() + " is not used, and made anew: " + problem.message());
    }
  }
  const KeptFile* find(const std::string& name, const std::string& sha256) const {
    const auto found = kept_.find(name + '\0' + sha256);
    return found == kept_.end() ? nullptr : &found->second;
  }

 private:
  std::map<std::string, KeptFile> kept_;
};

void append(Passages& to, Passages& from, std::size_t first_file) {
  for (search::Place& place : from.places) place.file += static_cast<std::int64_t>(first_file);
  std::ranges::move(from.files, std::back_inserter(to.files));
  std::ranges::copy(from.places, std::back_inserter(to.places));
  std::ranges::move(from.texts, std::back_inserter(to.texts));
  std::ranges::copy(from.vectors, std::back_inserter(to.vectors));
  from = {};
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw make_error(ErrorCode::unavailable, "cannot make the folder ", folder.string(), ": ", error.message());
}

class IndexBuilder {
 public:
  IndexBuilder(const EmbeddingPipeline& pipeline, const fs::path& folder, const IndexOptions& options,
               const base::ControlledCall& call)
      : pipeline_(pipeline),
        chunker_(pipeline),
        folder_(folder),
        options_(options),
        call_(call),
        origin_{search::vector_identity(pipeline) + search::chunk_identity(options.chunk), options.model} {
    kept_.add(folder / search::kIndexFile, origin_.identity);
    for (const fs::path& part : parts()) kept_.add(part, origin_.identity);
  }

  void add(const search::SourceFile& file) {
    call_.cancellation().check();
    search::FileContent content = search::read_content(file);
    FileEntry entry{.name = file.name, .sha256 = std::move(content.sha256)};
    if (const KeptFile* kept = kept_.find(entry.name, entry.sha256)) {
      close_part();
      take(*kept, std::move(entry));
      return;
    }
    ++report_.embedded_files;
    const auto number = static_cast<std::int64_t>(part_.files.size());
    for (const search::Document& document : content.documents) entry.passages += cut(document, number);
    part_.files.push_back(std::move(entry));
    if (part_.size() >= kPartPassages) close_part();
  }

  IndexReport finish() {
    close_part();
    if (all_.size() == 0)
      throw Error(ErrorCode::invalid_argument,
                  "there is no text to index: no .txt, .md, .html or .jsonl file with text was found");
    kept_ = {};  // the old index may be mapped, and is replaced
    search::write_index_file(folder_ / search::kIndexFile, origin_, all_);
    std::error_code ignored;
    fs::remove_all(folder_ / "parts", ignored);
    report_.files = all_.files.size();
    report_.chunks = all_.size();
    return report_;
  }

 private:
  std::vector<fs::path> parts() const {
    std::vector<fs::path> found;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder_ / "parts", error)) {
      if (entry.path().extension() == ".safetensors") found.push_back(entry.path());
    }
    std::ranges::sort(found);
    return found;
  }

  // Adds the document's passages to the part, without vectors.
  std::size_t cut(const search::Document& document, std::int64_t file) {
    const Chunks chunks = chunker_.chunk(document.text, options_.chunk);
    std::size_t line = document.line, at = 0;
    for (const Chunk& chunk : chunks.chunks) {
      if (!document.is_line) {
        const std::string_view between = std::string_view(document.text).substr(at, chunk.byte_start - at);
        line += static_cast<std::size_t>(std::ranges::count(between, '\n'));
        at = chunk.byte_start;
      }
      const auto number = [](std::size_t value) { return static_cast<std::int64_t>(value); };
      part_.places.push_back({file, number(chunk.start), number(chunk.end), number(chunk.byte_start),
                              number(chunk.byte_end), number(document.line_in_file(chunk.byte_start, line))});
      part_.texts.push_back(chunk.text);
    }
    return chunks.chunks.size();
  }

  // Embeds the part's passages and puts them on disk.
  void close_part() {
    if (part_.files.empty()) return;
    if (part_.size() > 0) {
      const Embeddings made = pipelines::embed_texts(pipeline_, std::span<const std::string>(part_.texts),
                                                     search::passage_options(), {.cancellation = call_.cancellation()});
      const auto values = made.vectors.values<float>();
      part_.vectors.assign(values.begin(), values.end());
      report_.tokens += made.tokens;
      report_.truncated += made.truncated.size();
      save_part();
    }
    append(all_, part_, all_.files.size());
  }

  void save_part() {
    const fs::path parts = folder_ / "parts";
    make_folder(parts);
    fs::path path;
    do {
      std::string number = std::to_string(next_part_++);
      path = parts / (std::string(8 - std::min<std::size_t>(number.size(), 8), '0') + number + ".safetensors");
    } while (fs::exists(path));
    search::write_index_file(path, origin_, part_);
  }

  void take(const KeptFile& kept, FileEntry entry) {
    const IndexFile& index = *kept.index;
    const auto file = static_cast<std::int64_t>(all_.files.size());
    const std::size_t width = index.dimensions();
    for (std::size_t i = kept.first; i < kept.first + kept.count; ++i) {
      search::Place place = index.place(i);
      place.file = file;
      all_.places.push_back(place);
      all_.texts.emplace_back(index.text(i));
      const auto vector = index.vectors().subspan(i * width, width);
      all_.vectors.insert(all_.vectors.end(), vector.begin(), vector.end());
    }
    index.require_unchanged();
    entry.passages = kept.count;
    all_.files.push_back(std::move(entry));
  }

  const EmbeddingPipeline& pipeline_;
  const Chunker chunker_;
  const fs::path folder_;
  const IndexOptions& options_;
  const base::ControlledCall& call_;
  const search::IndexOrigin origin_;
  KeptFiles kept_;
  Passages part_;  // new ones, not yet embedded
  Passages all_;
  std::size_t next_part_ = 0;
  IndexReport report_;
};

}  // namespace

IndexReport build_index(const EmbeddingPipeline& pipeline, const std::vector<fs::path>& paths, const fs::path& folder,
                        const IndexOptions& options, const RunControl& control) {
  return base::run_controlled(control, [&](const base::ControlledCall& call) {
    const std::vector<search::SourceFile> files = search::find_files(paths);
    make_folder(folder);
    const base::FileLock lock(folder / ".lock");
    IndexBuilder builder(pipeline, folder, options, call);
    for (std::size_t i = 0; i < files.size(); ++i) {
      builder.add(files[i]);
      if (options.progress) options.progress(files[i].name, i + 1, files.size());
    }
    return builder.finish();
  });
}

}  // namespace alate
