// Models that a command fetches where they are not here.
#pragma once

#include <filesystem>
#include <string>

#include "apps/alate/arguments.h"
#include "apps/alate/common_options.h"

namespace alate::app {

/// Declares --accept-terms.
void declare_terms(Arguments& arguments, bool& accepts);

/// Whether a model's terms, if it has some that a user must accept, are accepted: `given`, or now by somebody at a
/// terminal to whom they are named. Nobody is asked about a model that is here.
bool accepts_terms_of(const CommonOptions& options, const std::string& reference, bool given);

/// The path of MODEL, as find_model. A model that is not here is fetched where the reference says from where:
/// builtin:smollm2, gemma3-270m, hf:owner/name[:Q4_K_M] and the address of a GGUF on the hub; what, how large and to
/// where is said on standard error before. Terms that a user must accept are shown, and asked for on a terminal unless
/// they are accepted already. Throws as find_model and pull_model.
std::filesystem::path find_or_fetch_model(const CommonOptions& options, const std::string& reference,
                                          bool accepts_terms);

}  // namespace alate::app
