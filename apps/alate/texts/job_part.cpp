#include "apps/alate/texts/job_part.h"

#include <algorithm>
#include <utility>

#include "alate/error.h"
#include "base/threads/thread_pool.h"

namespace alate::app {
namespace {

constexpr std::size_t kInputsAtATime = 16;

}  // namespace

std::optional<InputText> next_single_text(TextSource& source, std::string_view verb) {
  auto input = source.next();
  if (input && input->pair)
    throw RefusedText(
        make_error(ErrorCode::invalid_argument, source.place(), " has a pair; ", verb, " takes single texts"));
  return input;
}

std::optional<std::size_t> TextPart::read(TextSource& source) {
  auto input = next_single_text(source, verb_);
  if (!input) return std::nullopt;
  const std::size_t bytes = input->text.size() + input->members.size();
  texts.push_back(std::move(input->text));
  members.push_back(std::move(input->members));
  return bytes;
}

void run_in_parallel(std::size_t count, const PartRun& run, const std::function<void(std::size_t)>& each) {
  const std::size_t tasks = (count + kInputsAtATime - 1) / kInputsAtATime;
  base::ThreadPool::shared().parallel_for(tasks, 0, [&](std::size_t task, std::size_t) {
    run.cancellation.check();
    const std::size_t end = std::min((task + 1) * kInputsAtATime, count);
    for (std::size_t i = task * kInputsAtATime; i < end; ++i) each(i);
  });
  run.computed(count);
}

}  // namespace alate::app
