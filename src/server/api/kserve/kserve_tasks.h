// Tasks over texts for KServe clients: texts as BYTES, answers as FP32 and BYTES.
#pragma once

#include <string>

#include "formats/json.h"
#include "pipelines/task_pipelines.h"
#include "server/api/kserve/kserve_tensors.h"
#include "server/route.h"

namespace alate::server {

/// Answers a request whose inputs are texts by the task that its parameter "task" names, else by that of the model;
/// `model` is the name in the path.
void kserve_task(Call& call, const std::string& model, InferRequest request);

/// Appends the tensors of a model's tasks as the protocol's metadata has them.
void add_task_tensors(const pipelines::TaskPipelines& pipelines, formats::Json::Array& inputs,
                      formats::Json::Array& outputs);

/// {"name": …, "datatype": …, "shape": […]}; -1 is any extent.
formats::Json tensor_facts(std::string_view name, std::string_view datatype, std::initializer_list<std::int64_t> shape);

}  // namespace alate::server
