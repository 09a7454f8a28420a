// The arguments of one verb: declared, then parsed into the verb's own variables.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "alate/error.h"
#include "verb.h"

namespace alate::app {

/// Declare everything, then call `parse`, which writes the targets; they must live until then. Each option --some-name
/// also takes its value from the environment variable ALATE_SOME_NAME when it is not given.
class Arguments {
 public:
  Arguments(const Verb& verb, std::vector<std::string> arguments);
  ~Arguments();
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;

  const Verb& verb() const { return verb_; }

  /// An argument without a name; `required` ones come first.
  void positional(std::string_view name, bool required, std::string& target);
  /// All further ones.
  void positionals(std::string_view name, std::vector<std::string>& target);

  /// `names` is "--name" or "--name,!--no-name", where the second means false.
  void flag(std::string_view names, std::string_view sentence, bool& target);
  void flag(std::string_view names, std::string_view sentence, std::optional<bool>& target);

  /// `value` is what the help calls the value. An option given twice counts with its last value.
  void option(std::string_view name, std::string_view value, std::string_view sentence, std::string& target);
  void option(std::string_view name, std::string_view value, std::string_view sentence,
              std::optional<std::string>& target);
  void option(std::string_view name, std::string_view value, std::string_view sentence, std::size_t& target);
  void option(std::string_view name, std::string_view value, std::string_view sentence,
              std::optional<std::size_t>& target);
  /// `read` gets the value and throws alate::Error when it is not one; the option's name is put before its message.
  void option(std::string_view name, std::string_view value, std::string_view sentence,
              std::function<void(std::string_view)> read);
  /// May be given several times, each time with one value or several between commas.
  void list(std::string_view name, std::string_view value, std::string_view sentence, std::vector<std::string>& target);

  /// Starts a group of options in the help.
  void group(std::string_view title);
  /// Adds a paragraph to the help.
  void note(std::string_view text);

  /// False when only help or the version was asked for: it is printed, and the verb is done.
  /// Throws invalid_argument, ending in a hint at the verb's help, for what cannot be understood.
  bool parse();

  /// An invalid_argument error that ends in a hint at the verb's help.
  Error usage_error(std::string_view message) const;

  std::string help() const;

 private:
  struct State;
  void refuse_unknown() const;

  const Verb& verb_;
  std::unique_ptr<State> state_;
};

}  // namespace alate::app
