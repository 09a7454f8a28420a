#include "tokenizers/models/hashing.h"

#include <random>

namespace alate::tokenizers {

std::uint64_t hash_seed() {
  static const std::uint64_t seed = [] {
    std::random_device device;
    return std::uint64_t{device()} << 32 | device();
  }();
  return seed;
}

}  // namespace alate::tokenizers
