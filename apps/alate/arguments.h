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

  /// An option that somebody else reads: what the command line alone gives, in order; without `value` a flag, which
  /// gives "true".
  void raw(std::string_view name, std::string_view value, std::string_view sentence,
           std::optional<std::vector<std::string>>& given);

  /// What a configuration says about an option, and where.
  struct Configured {
    std::vector<std::string> values;
    std::string origin;  // for errors, instead of the option's name
  };
  /// Asked in the order of declaration for each option that neither the command line nor a variable gives.
  void fall_back_on(std::function<std::optional<Configured>(std::string_view option)> look_up);

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
  void read_configured(const std::string& option,
                       const std::function<void(const std::vector<std::string>&)>& read) const;

  const Verb& verb_;
  std::unique_ptr<State> state_;
};

}  // namespace alate::app
