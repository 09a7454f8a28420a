// The variable `loop`.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "tokenizers/chat_templates/syntax/syntax.h"
#include "tokenizers/chat_templates/values/object.h"

namespace alate::tokenizers::chat_templates {

struct Activation;
class Evaluator;

class Loop : public Object {
 public:
  /// `size` is that of the iterable, if it is known before it has been walked through. `own` has the variables of a
  /// recursive loop, which runs again when it is called; null for others. The rendering keeps each loop.
  Loop(Evaluator& evaluator, const Statement& statement, const Activation* own, IteratorPtr items,
       std::optional<std::size_t> size, int depth)
      : evaluator_(evaluator), statement_(statement), own_(own), items_(std::move(items)), size_(size), depth_(depth) {}

  /// The next item; nothing at the end.
  std::optional<Value> advance(Rendering& run);

  std::string_view type_name() const override { return "LoopContext"; }
  void append_repr(Rendering& run, Builder& out) override;
  std::optional<Value> attribute(Rendering& run, std::string_view name) override;
  bool is_callable() const override { return true; }
  Value call(Rendering& run, Arguments arguments) override;
  std::optional<std::size_t> length(Rendering& run) override;
  void release() override;

 private:
  std::size_t index() const { return index_; }  // from 1
  const Value* peek(Rendering& run);
  Value cycle(Rendering& run, const Arguments& arguments);
  Value changed(Rendering& run, Arguments arguments);

  Evaluator& evaluator_;
  const Statement& statement_;
  const Activation* own_;
  IteratorPtr items_;
  std::optional<std::size_t> size_;
  int depth_;
  std::size_t index_ = 0;
  bool is_peeked_ = false;
  std::optional<Value> next_;
  Value current_, previous_;
  std::optional<Value> changed_;
};

}  // namespace alate::tokenizers::chat_templates
