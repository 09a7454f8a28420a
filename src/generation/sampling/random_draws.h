// The random numbers of sampling: alate/sampling.h specifies them.
#pragma once

#include <cstdint>

#include "base/philox.h"

namespace alate::generation {

/// The two numbers, uniform in [0, 1) with 53 bits, that belong to a token of a text.
struct RandomDraws {
  double token;  // which token is drawn
  double xtc;    // whether XTC applies
};

/// `text` is the number of the text among those of a request with the same seed, `token` that of the token in the text.
inline RandomDraws random_draws(std::uint64_t seed, std::uint64_t text, std::uint64_t token) {
  const auto words = base::philox(seed, token, text);
  const auto unit = [](std::uint32_t low, std::uint32_t high) {
    return static_cast<double>((low | std::uint64_t{high} << 32) >> 11) * 0x1p-53;
  };
  return {unit(words[0], words[1]), unit(words[2], words[3])};
}

}  // namespace alate::generation
