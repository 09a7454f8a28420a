// Options of verbs that generate: how tokens are chosen, and where a text ends.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alate/generation.h"
#include "alate/output_format.h"
#include "apps/alate/arguments.h"
#include "formats/json.h"

namespace alate::app {

/// What was asked for on the command line; all else is as the model's folder says.
class GenerationArguments {
 public:
  /// Declares them.
  void declare(Arguments& arguments);
  /// The model's defaults with what was asked for.
  GenerationOptions over(GenerationOptions defaults) const;

 private:
  std::vector<std::pair<std::string_view, formats::Json>> sampling_, stopping_;  // by their names in alate/sampling.h
  std::vector<std::string> stop_;
  std::vector<std::string> stop_id_texts_, bias_texts_;
  bool ignores_end_ = false;
  alate::OutputFormat format_;
};

/// Sets an option by its name in alate/sampling.h ("temperature", "stop") to a value as text: a number, true or false,
/// or a text. Throws invalid_argument naming the option, for unknown ones with the nearest; ranges are checked when a
/// text begins.
void set_generation_option(GenerationOptions& options, std::string_view name, std::string_view value);
/// The options with their values, one a line.
std::string generation_option_lines(const GenerationOptions& options);

/// "3 tokens in 0.20 s, 15.0 a second".
std::string speed_text(std::size_t tokens, std::chrono::nanoseconds time);
/// That of the tokens after the first, which came with the prompt.
std::string speed_of_text(const Generation& made);

}  // namespace alate::app
