#include <algorithm>
#include <map>
#include <memory>
#include <optional>
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
#include "pipelines/embed/kind_rows.h"
#include "search/documents.h"
#include "search/index_file.h"
#include "search/index_identity.h"
#include "search/index_writer.h"
#include "search/question_vectors.h"

namespace alate {
namespace {

namespace fs = std::filesystem;
using search::FileEntry;
using search::IndexFile;
using search::Passages;
using search::Segment;
using Source = std::shared_ptr<const IndexFile>;

// A part of new passages is put on disk once it has so many, or texts of so many bytes: an interrupted call loses no
// more, and memory holds no more.
constexpr std::size_t kPartPassages = 2048, kPartBytes = std::size_t{32} << 20;

// Passages of one file in an index or a part.
struct KeptPassages {
  Source index;
  std::size_t row = 0, count = 0;  // in that index
  std::size_t first = 0;           // among the file's
  bool continues = false;
};

// Passages whose vectors are there already, by name and digest of their file.
class KeptFiles {
 public:
  // Of an index that was made in the same way; others, and broken ones, have none.
  void add(const fs::path& path, const search::IndexForm& form, std::size_t dimensions) {
    std::error_code error;
    if (!fs::is_regular_file(path, error)) return;
    try {
      const auto index = std::make_shared<const IndexFile>(path);
      const bool fits = index->origin().identity == form.origin.identity &&
                        (!form.kinds.dense || index->dimensions() == dimensions) && search::can_take(*index, form);
      if (!fits) return;
      std::size_t row = 0;
      for (const FileEntry& file : index->files()) {
        std::vector<KeptPassages>& kept = kept_[file.name + '\0' + file.sha256];
        if (file.is_whole()) kept.clear();
        kept.push_back({index, row, file.passages, file.first, file.continues});
        row += file.passages;
      }
      index->release();
    } catch (const Error& problem) {
      base::log(base::LogLevel::warn, path.string() + " is not used, and made anew: " + problem.message());
    }
  }

  // The first passages of a file as far as they are there, in order; `is_whole` where these are all.
  struct Found {
    std::vector<KeptPassages> passages;
    std::size_t count = 0;
    bool is_whole = false;
  };
  Found find(const std::string& name, const std::string& sha256) const {
    Found found;
    const auto kept = kept_.find(name + '\0' + sha256);
    if (kept == kept_.end()) return found;
    for (bool goes_on = true; goes_on && !found.is_whole;) {
      goes_on = false;
      for (const KeptPassages& next : kept->second) {
        // Each step adds passages or ends the file, so that this ends.
        if (next.first != found.count || (next.count == 0 && next.continues)) continue;
        found.passages.push_back(next);
        found.count += next.count;
        found.is_whole = !next.continues;
        goes_on = true;
        break;
      }
    }
    return found;
  }
  void clear() { kept_.clear(); }

 private:
  std::map<std::string, std::vector<KeptPassages>> kept_;
};

// Dense and sparse vectors as far as the model is for them, or those that are asked for. A masked language model
// without modules can give SPLADE's vectors, which mean nothing where it was not trained for them.
EmbeddingKinds indexed_kinds(const EmbeddingPipeline& pipeline, const IndexOptions& options) {
  const EmbeddingKinds given = pipeline.kinds();
  const bool is_any_masked = given.dense && pipeline.state().kinds.splade.has_value();
  EmbeddingKinds kinds = options.kinds == EmbeddingKinds()
                             ? EmbeddingKinds{.dense = given.dense, .sparse = given.sparse && !is_any_masked}
                             : options.kinds;
  if (kinds.multi_vector)
    throw Error(ErrorCode::invalid_argument, "an index has dense and sparse vectors, and none for each token");
  pipelines::require_kinds(pipeline, kinds);
  return kinds;
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw make_error(ErrorCode::unavailable, "cannot make the folder ", folder.string(), ": ", error.message());
}

// Files and lines that cannot be read: each is reported and left out, or ends the call.
class Unreadable {
 public:
  explicit Unreadable(bool is_skipped) : is_skipped_(is_skipped) {}

  void add_line(const Error& error) { add(error, lines_, "a line was skipped"); }
  void add_file(const Error& error) { add(error, files_, "a file was skipped"); }
  std::size_t lines() const { return lines_; }
  std::size_t files() const { return files_; }
  const std::string& first() const { return first_; }  // what was wrong with it; empty: there is none

 private:
  void add(const Error& error, std::size_t& count, std::string_view event) {
    if (error.code() == ErrorCode::cancelled || error.code() == ErrorCode::deadline_exceeded) throw error;
    if (!is_skipped_) throw Error(error.code(), error.message() + std::string(hint(error)));
    if (first_.empty()) first_ = error.message();
    if (files_ + lines_ < kMostReported) base::log(base::LogLevel::warn, event, {{"reason", error.message()}});
    ++count;
  }
  // Messages of what is not supported end with its name.
  static std::string_view hint(const Error& error) {
    return error.code() == ErrorCode::unsupported ? "" : "; --on-error skip leaves out what cannot be read";
  }

  static constexpr std::size_t kMostReported = 20;
  bool is_skipped_;
  std::size_t lines_ = 0, files_ = 0;
  std::string first_;
};

class IndexBuilder {
 public:
  IndexBuilder(const EmbeddingPipeline& pipeline, const fs::path& folder, const IndexOptions& options,
               const base::ControlledCall& call, Unreadable& unreadable)
      : pipeline_(pipeline),
        chunker_(pipelines::pipeline_for(pipeline, search::passage_options().task)),
        folder_(folder),
        options_(options),
        call_(call),
        unreadable_(unreadable),
        form_{.origin = {search::index_identity(pipeline, options.chunk), options.model},
              .precision = options.precision,
              .kinds = indexed_kinds(pipeline, options)} {
    kept_.add(folder / search::kIndexFile, form_, pipeline.dimensions());
    for (const fs::path& part : parts()) kept_.add(part, form_, pipeline.dimensions());
  }

  void add(const search::SourceFile& file) {
    call_.cancellation().check();
    std::optional<search::FileContent> content;
    try {
      content = search::read_content(file, [&](const Error& error) { unreadable_.add_line(error); });
    } catch (const Error& error) {
      unreadable_.add_file(error);
      return;
    }
    add(file, std::move(*content));
  }

  IndexReport finish() {
    close_part();
    if (segments_.empty() && !unreadable_.first().empty())
      throw Error(
          ErrorCode::invalid_argument,
          "there is no text to index: all files or lines were skipped; the first because " + unreadable_.first());
    if (segments_.empty())
      throw Error(ErrorCode::invalid_argument,
                  "there is no text to index: no .txt, .md, .html or .jsonl file with text was found");
    report_.files = files_.size();
    report_.skipped_files = unreadable_.files();
    report_.skipped_lines = unreadable_.lines();
    for (const FileEntry& file : files_) report_.chunks += file.passages;
    kept_.clear();  // the old index may be mapped, and is replaced
    places_.clear();
    search::join_index_files(folder_ / search::kIndexFile, form_, files_, std::move(sources_), segments_);
    std::error_code ignored;
    fs::remove_all(folder_ / "parts", ignored);
    return report_;
  }

 private:
  void add(const search::SourceFile& file, search::FileContent content) {
    FileEntry entry{.name = file.name, .sha256 = std::move(content.sha256)};
    const KeptFiles::Found kept = kept_.find(entry.name, entry.sha256);
    for (const KeptPassages& passages : kept.passages) {
      if (passages.count > 0) add_segment(place_of(passages.index), passages.row, passages.count);
    }
    entry.passages = kept.count;
    if (!kept.is_whole) {
      ++report_.embedded_files;
      part_.files.push_back({.name = entry.name, .sha256 = entry.sha256, .first = kept.count});
      std::size_t place = 0;
      for (const search::Document& document : content.documents) cut(document, kept.count, place);
      entry.passages = place;
      close_segment();
    }
    files_.push_back(std::move(entry));
    if (is_full()) close_part();
  }

  std::vector<fs::path> parts() const {
    std::vector<fs::path> found;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder_ / "parts", error)) {
      if (entry.path().extension() == ".safetensors") found.push_back(entry.path());
    }
    std::ranges::sort(found);
    return found;
  }

  std::size_t place_of(const Source& index) {
    const auto [found, is_new] = places_.try_emplace(index.get(), sources_.size());
    if (is_new) sources_.push_back(index);
    return found->second;
  }

  // Of the file that is being added.
  void add_segment(std::size_t source, std::size_t row, std::size_t count) {
    segments_.push_back({.source = source, .first = row, .count = count, .file = files_.size()});
  }

  bool is_full() const { return part_.size() >= kPartPassages || part_bytes_ >= kPartBytes; }

  // Adds the document's passages to the part, without vectors and without those that are there already: the first
  // `kept` of the file. `passage` counts them all.
  void cut(const search::Document& document, std::size_t kept, std::size_t& passage) {
    const Chunks chunks = chunker_.chunk(document.text, options_.chunk);
    std::size_t line = document.line, at = 0;
    for (const Chunk& chunk : chunks.chunks) {
      if (!document.is_line) {
        const std::string_view between = std::string_view(document.text).substr(at, chunk.byte_start - at);
        line += static_cast<std::size_t>(std::ranges::count(between, '\n'));
        at = chunk.byte_start;
      }
      if (passage++ < kept) continue;
      if (is_full()) split_file(passage - 1);
      const auto number = [](std::size_t value) { return static_cast<std::int64_t>(value); };
      part_.places.push_back({number(part_.files.size() - 1), number(chunk.start), number(chunk.end),
                              number(chunk.byte_start), number(chunk.byte_end),
                              number(document.line_in_file(chunk.byte_start, line))});
      part_.texts.push_back(chunk.text);
      part_bytes_ += chunk.text.size();
      ++part_.files.back().passages;
    }
  }

  // Puts the part on disk in the middle of a file, which goes on at this passage.
  void split_file(std::size_t passage) {
    FileEntry rest = part_.files.back();
    part_.files.back().continues = true;
    close_segment();
    close_part();
    rest.passages = 0;
    rest.first = passage;
    part_.files.push_back(std::move(rest));
  }

  // Notes what the part has of the file that is being added.
  void close_segment() {
    const std::size_t count = part_.files.back().passages;
    if (count > 0) add_segment(part_source(), part_.size() - count, count);
  }
  // The place that the part has among the sources, once it is on disk.
  std::size_t part_source() {
    if (!part_source_) {
      part_source_ = sources_.size();
      sources_.emplace_back();
    }
    return *part_source_;
  }

  // Embeds the part's passages and puts them on disk.
  void close_part() {
    if (part_.size() > 0) {
      embed_part();
      sources_[*part_source_] = std::make_shared<const IndexFile>(save_part());
      sources_[*part_source_]->release();
      part_source_.reset();
    }
    // Files without a passage are in no part: that they have none is found again at once.
    part_ = {};
    part_bytes_ = 0;
  }

  void embed_part() {
    const std::vector<std::string_view> texts(part_.texts.begin(), part_.texts.end());
    const backends::RunOptions run{.cancellation = call_.cancellation()};
    KindEmbeddings made = search::embed_for_index(pipeline_, texts, form_.kinds, search::passage_options(), run);
    if (form_.kinds.dense) {
      const auto values = made.dense.values<float>();
      part_.vectors.assign(values.begin(), values.end());
    }
    part_.sparse = std::move(made.sparse);
    report_.tokens += made.tokens;
    report_.truncated += made.truncated.size();
  }

  fs::path save_part() {
    const fs::path parts = folder_ / "parts";
    make_folder(parts);
    fs::path path;
    do {
      std::string number = std::to_string(next_part_++);
      path = parts / (std::string(8 - std::min<std::size_t>(number.size(), 8), '0') + number + ".safetensors");
    } while (fs::exists(path));
    search::write_index_file(path, form_, part_);
    return path;
  }

  const EmbeddingPipeline& pipeline_;
  const Chunker chunker_;
  const fs::path folder_;
  const IndexOptions& options_;
  const base::ControlledCall& call_;
  Unreadable& unreadable_;
  const search::IndexForm form_;
  KeptFiles kept_;
  Passages part_;  // new ones, not yet embedded
  std::size_t part_bytes_ = 0;
  std::optional<std::size_t> part_source_;
  // The new index: its files, and where their passages are.
  std::vector<FileEntry> files_;
  std::vector<Segment> segments_;
  std::vector<Source> sources_;
  std::map<const IndexFile*, std::size_t> places_;  // of sources that were there before
  std::size_t next_part_ = 0;
  IndexReport report_;
};

}  // namespace

IndexReport build_index(const EmbeddingPipeline& pipeline, const std::vector<fs::path>& paths, const fs::path& folder,
                        const IndexOptions& options, const RunControl& control) {
  if (options.precision == Precision::uint8 || options.precision == Precision::ubinary)
    throw make_error(ErrorCode::invalid_argument, "an index has vectors of float32, int8 or binary, not of ",
                     to_string(options.precision));
  return base::run_controlled(control, [&](const base::ControlledCall& call) {
    Unreadable unreadable(options.skip_unreadable);
    const std::vector<search::SourceFile> files =
        search::find_files(paths, [&](const Error& error) { unreadable.add_file(error); });
    make_folder(folder);
    const base::FileLock lock(folder / ".lock");
    IndexBuilder builder(pipeline, folder, options, call, unreadable);
    for (std::size_t i = 0; i < files.size(); ++i) {
      builder.add(files[i]);
      if (options.progress) options.progress(files[i].name, i + 1, files.size());
    }
    return builder.finish();
  });
}

}  // namespace alate
