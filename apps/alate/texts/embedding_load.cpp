#include "apps/alate/texts/embedding_load.h"

namespace alate::app {

void declare_force(Arguments& arguments, bool& forces) {
  arguments.flag("--force", "vectors of a model that is for something else: a reranker, a classifier", forces);
}

pipelines::EmbeddingRequest embedding_request(const CommonOptions& options, bool forces) {
  pipelines::EmbeddingRequest request = load_request(options);
  request.force = forces;
  return request;
}

}  // namespace alate::app
