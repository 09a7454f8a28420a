// The texts of a benchmark: how long each is, and random ids of these lengths.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "alate/tokenizer.h"

namespace alate::app {

/// Token counts from "32,128", "32x128" or "32*128" (32 texts of 128 tokens), both mixed, or a file with one count a
/// line. Throws invalid_argument for what is none of these, for a count of 0 and for none at all; resource_exhausted
/// for more than 2^28 tokens in all.
std::vector<std::size_t> read_lengths(const std::string& list_or_file);

/// Rows of random ids in the vocabulary, with the tokenizer's special tokens where it would put them.
std::vector<std::vector<std::int32_t>> random_rows(const Tokenizer& tokenizer, const std::vector<std::size_t>& lengths,
                                                   std::mt19937_64& random);

}  // namespace alate::app
