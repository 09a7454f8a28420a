// The command line of alate-conformance.
#pragma once

#include <cstdint>
#include <optional>
#include <regex>
#include <span>
#include <string>

namespace alate::conformance {

enum class Mode : std::uint8_t { test, golden, support, perf, fuzz };

struct Sample {
  std::uint64_t seed = 1;
  double seconds = 0;
};

struct Options {
  std::string backend = "cpu";
  bool names_backend = false;
  Mode mode = Mode::test;
  std::optional<std::regex> op;  // of the whole name
  std::optional<std::string> single_case;
  std::optional<Sample> sample;
  std::optional<std::size_t> count;  // of random graphs, or of goldens, spread evenly
  std::optional<std::string> graph;  // a file
  bool check = false;
  bool help = false;
};

/// Throws invalid_argument that names the argument.
Options parse_options(std::span<const char* const> arguments);

std::string help_text();

}  // namespace alate::conformance
