// alate index
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "alate/chunk.h"
#include "alate/embedding_kinds.h"
#include "alate/embedding_precision.h"
#include "alate/error.h"
#include "alate/search.h"
#include "apps/alate/common_options.h"
#include "apps/alate/field_text.h"
#include "apps/alate/process_setup.h"
#include "apps/alate/texts/embedding_load.h"
#include "apps/alate/texts/progress.h"
#include "apps/alate/verb.h"
#include "base/log.h"
#include "pipelines/chunk/chunking.h"
#include "pipelines/embed/embedding_rows.h"

namespace alate::app {

void run_index(Arguments& arguments) {
  std::vector<std::string> paths, kind_names;
  std::string model = "builtin:minilm";
  IndexOptions index;
  bool hides_progress = false, forces = false;
  CommonOptions options;
  arguments.positionals("FILE", paths);
  arguments.option("--model", "MODEL", "makes the vectors; default: builtin:minilm", model);
  arguments.one_of("--method", "METHOD", "how texts are cut, as in alate chunk; default: recursive",
                   {"fixed", "recursive", "sentence", "semantic"},
                   [&index](std::string_view name) { index.chunk.method = parse_chunk_method(name).value(); });
  arguments.option("--target-tokens", "N", "the most tokens of a passage; default: 200", index.chunk.target_tokens);
  arguments.option("--overlap-tokens", "N", "the most that it repeats of the one before; default: a tenth of them",
                   index.chunk.overlap_tokens);
  arguments.one_of("--precision", "TYPE", "the vectors' numbers in the index; default: float32",
                   {"float32", "int8", "binary"},
                   [&index](std::string_view name) { index.precision = parse_precision(name).value(); });
  arguments.list("--kind", "KIND", "dense, sparse or both; default: those of the two that the model gives", kind_names);
  arguments.choices({"dense", "sparse"});
  arguments.option("--on-error", "ACTION",
                   "at a file or a line of .jsonl that cannot be read: stop, or skip it and go on; default: stop",
                   [&index](std::string_view name) {
                     if (name != "stop" && name != "skip")
                       throw make_error(ErrorCode::invalid_argument, "is one of stop, skip");
                     index.skip_unreadable = name == "skip";
                   });
  arguments.choices({"stop", "skip"});
  declare_force(arguments, forces);
  declare_progress(arguments, hides_progress);
  declare(arguments, options, {Shared::models, Shared::backends, Shared::dtype, Shared::threads, Shared::loading}, {});
  if (!arguments.parse()) return;
  apply(options);
  if (paths.empty()) throw arguments.usage_error("no FILE is given: name files or folders to index");
  if (options.out.empty() || options.out == "-")
    throw arguments.usage_error("--out DIR is missing: where the index goes");
  pipelines::check_chunk_options(index.chunk);
  for (const std::string& name : kind_names) {
    const std::optional<EmbeddingKind> kind = parse_embedding_kind(name);
    if (!kind || *kind == EmbeddingKind::multi_vector)
      throw arguments.usage_error("--kind is \"" + name + "\"; it must be dense or sparse");
    index.kinds.add(*kind);
  }

  const auto pipeline = pipelines::load_embedding(find_model(options, model), embedding_request(options, forces));
  index.model = shortest_reference(options, model);
  Progress progress(options, true, hides_progress, "index", std::nullopt, "files");
  const auto interrupted = until_interrupted();
  index.progress = [&](std::string_view, std::size_t done, std::size_t total) {
    interrupted.check();
    progress.add(1, static_cast<double>(done) / static_cast<double>(total));
  };
  const IndexReport report =
      build_index(pipeline, std::vector<std::filesystem::path>(paths.begin(), paths.end()), options.out, index);
  progress.end();
  if (report.truncated > 0)
    base::log(base::LogLevel::warn, counted(report.truncated, "passage") + (report.truncated == 1 ? " was" : " were") +
                                        " longer than the model takes and cut; choose fewer --target-tokens");
  std::string done = counted(report.chunks, "passage") + " of " + counted(report.files, "file") + " in " + options.out +
                     "; " + counted(report.embedded_files, "file") + " embedded";
  if (report.skipped_files > 0) done += "; " + counted(report.skipped_files, "file") + " skipped";
  if (report.skipped_lines > 0) done += "; " + counted(report.skipped_lines, "line") + " skipped";
  write_to_descriptor(1, done + "\n", "standard output");
}

}  // namespace alate::app
