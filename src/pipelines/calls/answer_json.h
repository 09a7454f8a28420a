// Answers of native routes, which are also those of verbs with --output json.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace alate::pipelines {

/// What every answer tells besides its results.
struct AnswerFacts {
  std::string_view model;
  std::int64_t total_ns = 0, load_ns = 0;
  std::size_t tokens = 0;
  std::span<const std::size_t> truncated = {};
};

/// {"model":…  — the beginning.
std::string begin_answer(std::string_view model);
/// ,"total_duration":…,"truncated":[…]} — the end.
void finish_answer(std::string& out, const AnswerFacts& facts);

/// ,NAME:[ITEM,…]; each item is JSON.
void append_list(std::string& out, std::string_view name, std::span<const std::string> items);
/// {"model": …, NAME: [ITEM, …], "total_duration": …, …}. Each item is JSON, the answer to one text.
std::string list_answer(std::string_view name, std::span<const std::string> items, const AnswerFacts& facts);

}  // namespace alate::pipelines
