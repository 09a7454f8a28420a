#include "tests/conformance/options.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "alate/error.h"

namespace alate::conformance {
namespace {

Mode parse_mode(std::string_view text) {
  if (text == "test") return Mode::test;
  if (text == "golden") return Mode::golden;
  if (text == "support") return Mode::support;
  if (text == "perf") return Mode::perf;
  if (text == "fuzz") return Mode::fuzz;
  throw make_error(ErrorCode::invalid_argument, "--mode is test, golden, support, perf or fuzz, not '", text, "'");
}

std::regex parse_expression(const std::string& text) {
  try {
    return std::regex(text);
  } catch (const std::regex_error&) {
    throw make_error(ErrorCode::invalid_argument, "--op '", text, "' is not a regular expression");
  }
}

Sample parse_sample(const std::string& text) {
  Sample sample;
  const std::size_t colon = text.find(':');
  const auto wrong = [&] {
    return make_error(ErrorCode::invalid_argument, "--sample is SEED:SECONDS, for example 1:20, not '", text, "'");
  };
  if (colon == std::string::npos) throw wrong();
  const auto [end, error] = std::from_chars(text.data(), text.data() + colon, sample.seed);
  if (error != std::errc() || end != text.data() + colon) throw wrong();
  char* rest = nullptr;
  sample.seconds = std::strtod(text.c_str() + colon + 1, &rest);
  if (rest == text.c_str() + colon + 1 || *rest != '\0' || !(sample.seconds >= 0) || std::isinf(sample.seconds))
    throw wrong();
  return sample;
}

std::size_t parse_count(const std::string& text) {
  std::size_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || end != text.data() + text.size())
    throw make_error(ErrorCode::invalid_argument, "--count is a number, not '", text, "'");
  return count;
}

}  // namespace

Options parse_options(std::span<const char* const> arguments) {
  Options options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string name = arguments[i];
    if (name == "--help" || name == "-h") {
      options.help = true;
      continue;
    }
    if (name == "--check") {
      options.check = true;
      continue;
    }
    const bool is_known = name == "--backend" || name == "--mode" || name == "--op" || name == "--case" ||
                          name == "--sample" || name == "--count" || name == "--graph";
    if (!is_known) throw make_error(ErrorCode::invalid_argument, "there is no option '", name, "'; see --help");
    if (i + 1 == arguments.size()) throw make_error(ErrorCode::invalid_argument, name, " needs a value");
    const std::string value = arguments[++i];
    if (name == "--backend") {
      options.backend = value;
      options.names_backend = true;
    }
    if (name == "--mode") options.mode = parse_mode(value);
    if (name == "--op") options.op = parse_expression(value);
    if (name == "--case") options.single_case = value;
    if (name == "--sample") options.sample = parse_sample(value);
    if (name == "--count") options.count = parse_count(value);
    if (name == "--graph") options.graph = value;
  }
  return options;
}

std::string help_text() {
  return "alate-conformance: every op of the op table on a backend, against the reference interpreter\n"
         "\n"
         "  --backend NAME         the backend (cpu)\n"
         "  --mode test            runs the cases of every op and dtype; ends with `N passed, N failed` (the default)\n"
         "  --mode golden          runs what jax gave for ops, recorded in tests/golden/ops; ends as test does\n"
         "  --mode support         writes docs/ops.md: the ops, and which backend runs which of them, how;\n"
         "                         with --backend: how many it runs, and what it does not run, which must be little\n"
         "  --mode perf            each op's speed on large operands, against what this machine reaches\n"
         "  --mode fuzz            random graphs from the op table; one that fails is made small and written to\n"
         "                         graph_SEED.txt; SECONDS of --sample (1:60) or --count N of them\n"
         "  --graph FILE           only this graph, as --mode fuzz wrote it, or all of a folder\n"
         "  --op EXPRESSION        only ops whose whole name this regular expression matches\n"
         "  --case CASE            only this case, as a failure prints it; shows its graph where it fails\n"
         "  --sample SEED:SECONDS  at least one case of each op, then random ones until the time is over\n"
         "  --check                with --mode support: writes nothing, fails where docs/ops.md is not current\n"
         "\n"
         "The exit status is 0 where nothing failed and 77 where the backend's library is not installed here.\n";
}

}  // namespace alate::conformance
