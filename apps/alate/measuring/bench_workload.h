// Benchmark workloads: text lengths, and random token ids of these lengths.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "alate/tokenizer.h"

namespace alate::app {

/// Token counts from "32,128", "32x128" or "32*128" (32 texts of 128 tokens), a mix of both, or a file with one count
/// per line. Throws invalid_argument for anything else, for a count of 0 and for an empty list; resource_exhausted for
/// more than 2^28 tokens in total.
std::vector<std::size_t> read_lengths(const std::string& list_or_file);

/// Rows of random ids from the vocabulary, with special tokens where the tokenizer would put them.
std::vector<std::vector<std::int32_t>> random_rows(const Tokenizer& tokenizer, const std::vector<std::size_t>& lengths,
                                                   std::mt19937_64& random);

}  // namespace alate::app
