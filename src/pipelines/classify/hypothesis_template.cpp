#include "pipelines/classify/hypothesis_template.h"

#include "alate/classify.h"
#include "alate/error.h"

namespace alate::pipelines {

HypothesisTemplate::HypothesisTemplate(std::string_view text) {
  const auto refuse = [&] {
    throw make_error(ErrorCode::invalid_argument, "the hypothesis template \"", text,
                     "\" must have one {}, where the label goes, such as \"", kHypothesisTemplate,
                     "\"; a brace of the text is written twice, {{ or }}");
  };
  bool has_place = false;
  for (std::string_view rest = text; !rest.empty();) {
    if (rest.starts_with("{}") || rest.starts_with("{0}")) {
      if (has_place) refuse();
      has_place = true;
      rest.remove_prefix(rest[1] == '0' ? 3 : 2);
      continue;
    }
    const bool is_brace = rest[0] == '{' || rest[0] == '}';
    if (is_brace && (rest.size() == 1 || rest[1] != rest[0])) refuse();
    (has_place ? after_ : before_) += rest[0];
    rest.remove_prefix(is_brace ? 2 : 1);
  }
  if (!has_place) refuse();
}

}  // namespace alate::pipelines
