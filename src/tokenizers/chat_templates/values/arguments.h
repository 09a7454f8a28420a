// The arguments of a call by the names of parameters.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "tokenizers/chat_templates/values/object.h"

namespace alate::tokenizers::chat_templates {

class Parameters {
 public:
  /// Fails for too many arguments, unknown names, arguments given twice, and when one of the first `required` is
  /// absent.
  Parameters(Rendering& run, std::string_view callee, Arguments arguments,
             std::initializer_list<std::string_view> names, std::size_t required = 0);

  /// REQUIRES: the argument was required or has(i).
  const Value& operator[](std::size_t i) const { return values_[i]; }
  bool has(std::size_t i) const { return !values_[i].is_missing(); }
  /// Given, and not none.
  bool is_set(std::size_t i) const { return has(i) && !values_[i].is_none(); }
  bool flag(std::size_t i, bool otherwise) const;
  Integer integer(std::size_t i, Integer otherwise) const;
  /// An integer as a size: negative ones are 0, large ones the largest.
  std::size_t size(std::size_t i, std::size_t otherwise) const;
  /// A text; fails for other values.
  std::string_view text(std::size_t i, std::string_view otherwise) const;

 private:
  Rendering& run_;
  std::string_view callee_;
  Values values_;
};

}  // namespace alate::tokenizers::chat_templates
