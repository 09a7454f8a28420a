#include "pipelines/modules/model_class.h"

#include "models/encoder.h"
#include "runtime/loading/model_form.h"

namespace alate::pipelines {

std::string class_of(const Model::State& model) {
  const models::Architecture* known = model.form->architecture();
  return known == nullptr ? model.form->architecture_name()
                          : std::string(known->class_name) + std::string(models::find_head(*known, model.config).name);
}

}  // namespace alate::pipelines
