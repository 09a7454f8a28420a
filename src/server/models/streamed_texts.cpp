#include "server/models/streamed_texts.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace alate::server {
namespace {

using pipelines::AnswerPiece;

// Of a text, written at once: as much as a connection takes within a moment.
constexpr std::size_t kMostTokens = 64, kMostPieces = 64;
// Written before the next texts are.
constexpr std::size_t kWriteBytes = std::size_t{16} << 10;

bool begins_something(const AnswerPiece& piece) { return piece.kind == AnswerPiece::Kind::tool_call; }

template <typename Items>
std::vector<typename Items::value_type> take_first(Items& items, std::size_t most) {
  const auto end = items.begin() + static_cast<std::ptrdiff_t>(std::min(items.size(), most));
  std::vector<typename Items::value_type> first(std::make_move_iterator(items.begin()), std::make_move_iterator(end));
  items.erase(items.begin(), end);
  return first;
}

}  // namespace

void append_piece(std::vector<AnswerPiece>& pieces, const AnswerPiece& piece) {
  const bool joins = !pieces.empty() && pieces.back().kind == piece.kind && pieces.back().call == piece.call &&
                     !begins_something(piece);
  if (joins) {
    pieces.back().text += piece.text;
  } else {
    pieces.push_back(piece);
  }
}

StreamedTexts::StreamedTexts(std::shared_ptr<Exchange> exchange, GenerationAnswer& answer, std::size_t texts,
                             std::function<std::function<void()>()> make_hook)
    : exchange_(std::move(exchange)), answer_(answer), make_hook_(std::move(make_hook)), pending_(texts) {}

void StreamedTexts::begin(const GenerationStart& start, Headers headers) {
  Response head;
  head.content_type = answer_.content_type();
  head.headers = std::move(headers);
  answer_.begin(start, out_);
  writer_ = exchange_->begin(std::move(head));
  has_begun_ = true;
  last_written_ = Clock::now();
}

void StreamedTexts::add(std::size_t text, GeneratedToken token) { pending_[text].tokens.push_back(std::move(token)); }

void StreamedTexts::add(std::size_t text, const AnswerPiece& piece) { append_piece(pending_[text].pieces, piece); }

void StreamedTexts::finish(std::size_t text, const MadeText& made) { pending_[text].done = &made; }

bool StreamedTexts::write() {
  if (waits_for_room_ || has_ended_) return true;
  for (;;) {
    if (out_.empty()) format_next();
    if (out_.empty()) break;
    switch (writer_.write(out_)) {
      case AnswerWriter::Result::taken: break;
      case AnswerWriter::Result::full:
        waits_for_room_ = true;
        writer_.on_room(make_hook_());
        return true;
      case AnswerWriter::Result::gone: return false;
    }
    out_.clear();
    last_written_ = Clock::now();
  }
  if (!is_ending()) return !writer_.gone();
  has_ended_ = true;
  writer_.end();
  return true;
}

bool StreamedTexts::write_into_room() {
  waits_for_room_ = false;
  return write();
}

// What is pending of the texts, then the end.
void StreamedTexts::format_next() {
  for (std::size_t i = 0; i < pending_.size() && out_.size() < kWriteBytes; ++i) {
    while (!pending_[i].is_empty() && out_.size() < kWriteBytes) format(i, pending_[i]);
  }
  if (!out_.empty() || !is_ending() || end_is_formatted_) return;
  if (problem_) {
    answer_.fail(*problem_, out_);
  } else {
    answer_.end(*totals_, out_);
  }
  end_is_formatted_ = true;
}

void StreamedTexts::format(std::size_t index, Pending& pending) {
  const std::vector<GeneratedToken> tokens = take_first(pending.tokens, kMostTokens);
  const std::vector<AnswerPiece> pieces = take_first(pending.pieces, kMostPieces);
  const bool is_last = pending.tokens.empty() && pending.pieces.empty();
  answer_.add({.index = index,
               .pieces = pieces,
               .tokens = tokens,
               .done = is_last ? std::exchange(pending.done, nullptr) : nullptr},
              out_);
}

bool StreamedTexts::keep_alive(Clock::time_point now) {
  if (has_ended_ || waits_for_room_ || now - last_written_ < kKeepAlive) return !has_begun_ || !writer_.gone();
  out_ += answer_.keep_alive();
  return write();
}

}  // namespace alate::server
