// Check of dynamic_reshape's operand 1.
#include "alate/error.h"
#include "exchange/stablehlo.h"
#include "tensor/element.h"

namespace alate::exchange {

void require_extents(const ExtentCheck& check, const Tensor& found) {
  const std::size_t width = bits_of(found.dtype()) / 8;
  std::string given, wanted;
  bool is_equal = found.element_count() == static_cast<std::int64_t>(check.extents.size());
  for (std::int64_t i = 0; i < found.element_count(); ++i) {
    const auto place = static_cast<std::size_t>(i);
    const double extent = tensor::load_double(found.dtype(), found.bytes().data() + place * width);
    is_equal = is_equal && extent == static_cast<double>(check.extents[place]);
    given += (i == 0 ? "" : ", ") + std::to_string(static_cast<std::int64_t>(extent));
  }
  for (const std::int64_t extent : check.extents) wanted += (wanted.empty() ? "" : ", ") + std::to_string(extent);
  if (!is_equal)
    throw make_error(ErrorCode::invalid_argument, "dynamic_reshape", check.source.empty() ? "" : " of " + check.source,
                     ": operand 1 is [", given, "], but the extents of dims are [", wanted, "]");
}

}  // namespace alate::exchange
