// alate search
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/error.h"
#include "alate/rerank.h"
#include "alate/search.h"
#include "apps/alate/common_options.h"
#include "apps/alate/process_setup.h"
#include "apps/alate/search/marked_text.h"
#include "apps/alate/verb.h"
#include "base/files/descriptor_io.h"
#include "pipelines/embed/embedding_rows.h"
#include "pipelines/rerank/rerank_run.h"
#include "search/search_json.h"

namespace alate::app {

void run_search(Arguments& arguments) {
  std::string folder, question, model, reranker_name;
  SearchOptions search;
  CommonOptions options;
  arguments.positional("DIR", true, folder);
  arguments.positional("QUESTION", true, question);
  arguments.option("--top", "N", "how many passages; default: 10", search.top);
  arguments.one_of(
      "--mode", "MODE", "which vectors are compared; hybrid: both, by their ranks; default: all that the index has",
      {"dense", "sparse", "hybrid"}, [&search](std::string_view name) { search.mode = parse_search_mode(name); });
  arguments.option("--rerank", "MODEL", "a cross-encoder that reads the best 50 passages again", reranker_name);
  arguments.option("--model", "MODEL", "the model that the index was made with, by another name", model);
  const auto written = {OutputFormat::text, OutputFormat::json, OutputFormat::jsonl};
  declare(arguments, options, {Shared::models, Shared::backends, Shared::dtype, Shared::threads, Shared::loading},
          written);
  if (!arguments.parse()) return;
  apply(options);
  if (search.top == 0) throw arguments.usage_error("--top is at least 1");
  const OutputFormat format = output_format(options, written);
  Output output(options.out);
  const SearchIndex index = SearchIndex::open(folder);
  if (model.empty()) model = index.model();
  const auto pipeline = pipelines::load_embedding(find_model(options, model),
                                                  pipelines::EmbeddingRequest(load_request(options)).forced());
  std::optional<RerankPipeline> reranker;
  if (!reranker_name.empty())
    reranker = pipelines::load_reranker(find_model(options, reranker_name), load_request(options));
  const std::vector<SearchResult> results = index.search(pipeline, question, search, reranker);

  if (format == OutputFormat::json) {
    output.write(search::results_json(results) + "\n");
  } else if (format == OutputFormat::jsonl) {
    for (const SearchResult& result : results) {
      std::string line;
      search::append_result(line, result);
      output.write(line + "\n");
    }
  } else {
    const bool is_terminal = !output.is_file() && base::is_terminal(base::kStandardOutput);
    for (const SearchResult& result : results) output.write(shown_result(result, is_terminal));
  }
  output.finish();
}

}  // namespace alate::app
