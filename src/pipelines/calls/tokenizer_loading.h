// A model's tokenizer, loaded while the model is.
#pragma once

#include <filesystem>
#include <future>

#include "alate/model.h"
#include "alate/tokenizer.h"

namespace alate::pipelines {

/// Loads the folder's tokenizer, on a thread of its own where the options and the process's limits allow that. Its
/// error is the future's.
std::future<Tokenizer> begin_loading_tokenizer(const std::filesystem::path& folder, const LoadOptions& options);

}  // namespace alate::pipelines
