// Tasks that a head of the model's folder computes: what compiles them, and which models have them.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "pipelines/tasks/tasks.h"
#include "runtime/loading/entry_point.h"
#include "runtime/loading/head_program.h"
#include "runtime/loading/loaded_model.h"

namespace alate::pipelines {

struct TaskHead {
  std::string_view entry_point;  // its name
  std::string_view class_end;    // of the class that config.json names, after the architecture's: "ForMaskedLM"
  std::string_view word_head;    // the head of models of words and labels that does the task too; empty: none
  std::string_view labels;       // how many labels it must have: " with one label or two"
  std::string_view noun;         // "a reranker"
  std::string_view usual;        // a model that people know: "a cross-encoder, such as …"
  /// The outputs. Refers to the model.
  runtime::Head (*head)(const Model::State& model);
  models::HeadChoice choice = models::HeadChoice::of_folder;
};

/// Throws internal for `embed`, which modules compute.
const TaskHead& task_head(Task task);

/// Throws unsupported for a model of another head, saying which is wanted.
void require_task(const Model::State& model, Task task);
/// The entry point, compiled at its first use. Throws as require_task and Model::State::entry_point.
std::shared_ptr<const runtime::EntryPoint> task_entry_point(const Model::State& model, Task task);
/// That of `extract`, or the same with scores of spans only for the first instances of tasks. Throws as
/// task_entry_point.
std::shared_ptr<const runtime::EntryPoint> extract_entry_point(const Model::State& model, bool first_only);
/// Of `fill`: the folder's head by itself, with probabilities over the vocabulary, where the entry point gives hidden
/// states. Compiled and throws as the entry point.
std::shared_ptr<const runtime::HeadProgram> vocabulary_head(const Model::State& model);
/// Compiles all that the task needs.
void compile_task(const Model::State& model, Task task);
/// Goes as far as its compilation, and throws as it: Model::State::check.
void check_task(const Model::State& model, Task task);

/// Outputs of the folder's head by their names: "logits".
runtime::Head outputs_of_head(std::initializer_list<std::string_view> names);

}  // namespace alate::pipelines
