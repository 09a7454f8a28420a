#include "tokenizers/chat_templates/values/arguments.h"

#include <algorithm>
#include <limits>

#include "tokenizers/chat_templates/values/operators.h"
#include "tokenizers/chat_templates/values/rendering.h"

namespace alate::tokenizers::chat_templates {

Parameters::Parameters(Rendering& run, std::string_view callee, Arguments arguments,
                       std::initializer_list<std::string_view> names, std::size_t required)
    : run_(run), callee_(callee), values_(std::move(arguments.positional)) {
  if (values_.size() > names.size()) {
    run.fail(callee, " takes at most ", names.size(), " arguments, not ", values_.size());
  }
  values_.resize(names.size());
  for (auto& [name, value] : arguments.named) {
    const auto* found = std::ranges::find(names, name);
    if (found == names.end()) run.fail(callee, " has no argument ", name);
    Value& place = values_[static_cast<std::size_t>(found - names.begin())];
    if (!place.is_missing()) run.fail(callee, " has got the argument ", name, " twice");
    place = std::move(value);
  }
  for (std::size_t i = 0; i < required; ++i) {
    if (values_[i].is_missing()) run.fail(callee, " needs the argument ", names.begin()[i]);
  }
}

bool Parameters::flag(std::size_t i, bool otherwise) const { return has(i) ? truth(run_, values_[i]) : otherwise; }

Integer Parameters::integer(std::size_t i, Integer otherwise) const {
  if (!has(i)) return otherwise;
  const Value& value = values_[i];
  if (value.is_undefined()) run_.fail(value.undefined_message());
  if (!value.is_integral()) run_.fail(callee_, " needs an integer, not '", type_name(value), "'");
  return value.integer();
}

std::size_t Parameters::size(std::size_t i, std::size_t otherwise) const {
  if (!has(i)) return otherwise;
  constexpr Integer kLargest = std::numeric_limits<std::int64_t>::max();
  return static_cast<std::size_t>(std::clamp(integer(i, 0), Integer{0}, kLargest));
}

std::string_view Parameters::text(std::size_t i, std::string_view otherwise) const {
  if (!has(i)) return otherwise;
  const Value& value = values_[i];
  if (value.is_undefined()) run_.fail(value.undefined_message());
  if (!value.is_text()) run_.fail(callee_, " needs a string, not '", type_name(value), "'");
  return value.bytes();
}

}  // namespace alate::tokenizers::chat_templates
