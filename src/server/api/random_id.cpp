#include "server/api/random_id.h"

#include <random>

namespace alate::server {

std::string random_id(std::string_view prefix) {
  thread_local std::mt19937_64 generator = [] {
    std::random_device device;
    std::seed_seq seed = {device(), device(), device(), device()};
    return std::mt19937_64(seed);
  }();
  constexpr std::string_view kCharacters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  std::uniform_int_distribution<std::size_t> place(0, kCharacters.size() - 1);
  std::string id(prefix);
  for (int i = 0; i < 24; ++i) id += kCharacters[place(generator)];
  return id;
}

}  // namespace alate::server
