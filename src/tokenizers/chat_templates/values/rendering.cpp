#include "tokenizers/chat_templates/values/rendering.h"

#include <utility>

#include "tokenizers/chat_templates/values/operators.h"

namespace alate::tokenizers::chat_templates {

Rendering::~Rendering() {
  for (const std::shared_ptr<Object>& object : kept_) object->release();
}

Value Rendering::call(const Value& callee, Arguments arguments) {
  const Nesting nesting(*this);
  if (callee.is_undefined()) fail(callee.undefined_message());
  if (!callee.is_object() || !callee.object().is_callable()) fail("'", type_name(callee), "' object is not callable");
  const std::shared_ptr<Object> function = callee.shared_object();  // lives while it runs
  return function->call(*this, std::move(arguments));
}

}  // namespace alate::tokenizers::chat_templates
