// What a verb adds to a big job: how a part of its inputs is read, prepared, run and written.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/alate/texts/on_error.h"
#include "apps/alate/texts/text_source.h"
#include "base/threads/cancellation.h"

namespace alate::app {

/// How a part is run.
struct PartRun {
  base::Cancellation cancellation;
  const std::function<void(std::size_t)>& computed;  // to be told of all inputs of the part, as they are done
};

/// Where a part is in the whole job.
struct PartPlace {
  std::size_t first = 0;                 // the index of its first input
  std::span<const RefusedLine> refused;  // the lines between its inputs that were skipped
};

/// A part of the inputs. Its steps are called in this order, each on one thread; while one part is written, the next
/// is run and the one after that is read and prepared, so that what the steps share must not change.
class JobPart {
 public:
  JobPart() = default;
  virtual ~JobPart() = default;
  JobPart(const JobPart&) = delete;
  JobPart& operator=(const JobPart&) = delete;

  /// Takes one more input from `source` and returns its bytes; nothing at the end. Throws RefusedText for a line that
  /// --on-error skip leaves out; the part is then as before.
  virtual std::optional<std::size_t> read(TextSource& source) = 0;
  /// Makes rows of the inputs. Also called for the empty part of an empty job: options that the model cannot satisfy
  /// are rejected even then.
  virtual void prepare() {}
  /// Computes the answers; stops with the error `cancelled` soon after it is asked to.
  virtual void run(const PartRun& run) = 0;
  /// Writes them.
  virtual void write(const PartPlace& place) = 0;
  /// The inputs of the part that were cut, ascending; asked for after `write`.
  virtual std::span<const std::size_t> truncated() const { return {}; }
};

/// The next text; nothing at the end. Throws as TextSource::next, and RefusedText for a pair: `verb` takes none.
std::optional<InputText> next_single_text(TextSource& source, std::string_view verb);

/// A part whose inputs are single texts.
class TextPart : public JobPart {
 public:
  explicit TextPart(std::string_view verb) : verb_(verb) {}
  std::optional<std::size_t> read(TextSource& source) override;

 protected:
  std::vector<std::string_view> views() const { return {texts.begin(), texts.end()}; }

  std::vector<std::string> texts;
  std::vector<std::string> members;  // of each text, as InputText::members

 private:
  std::string_view verb_;
};

/// Calls `each(i)` for the inputs of a part, on all threads of the shared pool, and reports them as done. Throws what
/// it throws, and cancelled.
void run_in_parallel(std::size_t count, const PartRun& run, const std::function<void(std::size_t)>& each);

/// Calls `write(i)` for `count` inputs and `skip(line)` for the refused lines between them, in the order of the input.
template <typename Write, typename Skip>
void write_in_order(std::size_t count, std::span<const RefusedLine> refused, const Write& write, const Skip& skip) {
  for (std::size_t i = 0; i <= count; ++i) {
    for (; !refused.empty() && refused.front().before <= i; refused = refused.subspan(1)) skip(refused.front());
    if (i < count) write(i);
  }
}

}  // namespace alate::app
