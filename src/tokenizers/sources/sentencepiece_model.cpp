#include "tokenizers/sources/sentencepiece_model.h"

#include <cmath>

#include "alate/error.h"
#include "formats/protobuf_reader.h"

namespace alate::tokenizers {
namespace {

using formats::ProtobufField;
using formats::ProtobufReader;
bool is_bytes_field(const ProtobufField& field) { return field.kind == ProtobufField::Kind::bytes; }
bool is_varint_field(const ProtobufField& field) { return field.kind == ProtobufField::Kind::varint; }

// A field of the wrong kind is an unknown field, which protobuf's own readers skip.
SentencePieceModel::Piece read_piece(ProtobufReader reader) {
  SentencePieceModel::Piece piece;
  ProtobufField field;
  while (reader.next(field)) {
    if (field.number == 1 && is_bytes_field(field)) piece.text = field.utf8("a piece");
    if (field.number == 2 && field.kind == ProtobufField::Kind::fixed32) piece.score = field.float32();
    if (field.number == 3 && is_varint_field(field)) {
      if (field.integer < 1 || field.integer > 6)
        throw make_error(ErrorCode::corrupt, "a piece is of type ", field.integer, ", which there is none of");
      piece.type = static_cast<SentencePieceModel::PieceType>(field.integer);
    }
  }
  if (piece.text.empty()) throw Error(ErrorCode::corrupt, "a piece is empty");
  if (!std::isfinite(piece.score)) throw Error(ErrorCode::corrupt, "a piece has a score that is no number");
  return piece;
}

void read_trainer_spec(ProtobufReader reader, SentencePieceModel& model) {
  ProtobufField field;
  while (reader.next(field)) {
    if (is_varint_field(field)) {
      switch (field.number) {
        case 3:
          if (field.integer < 1 || field.integer > 4)
            throw make_error(ErrorCode::corrupt, "its model is of type ", field.integer, ", which there is none of");
          model.type = static_cast<SentencePieceModel::Type>(field.integer);
          break;
        case 24: model.whitespace_as_suffix = field.boolean(); break;
        case 35: model.byte_fallback = field.boolean(); break;
        case 40: model.unk_id = field.int32(); break;
        case 41: model.bos_id = field.int32(); break;
        case 42: model.eos_id = field.int32(); break;
        default: break;
      }
    } else if (is_bytes_field(field)) {
      switch (field.number) {
        case 45: model.unk_piece = field.utf8("unk_piece"); break;
        case 46: model.bos_piece = field.utf8("bos_piece"); break;
        case 47: model.eos_piece = field.utf8("eos_piece"); break;
        default: break;
      }
    }
  }
}

void read_normalizer_spec(ProtobufReader reader, SentencePieceModel& model) {
  ProtobufField field;
  while (reader.next(field)) {
    if (field.number == 2 && is_bytes_field(field)) model.charsmap = field.text();
    if (!is_varint_field(field)) continue;
    if (field.number == 3) model.add_dummy_prefix = field.boolean();
    if (field.number == 4) model.remove_extra_whitespaces = field.boolean();
    if (field.number == 5) model.escape_whitespaces = field.boolean();
  }
}

SentencePieceModel parse_model(std::span<const std::byte> file) {
  SentencePieceModel model;
  ProtobufReader reader(file);
  ProtobufField field;
  while (reader.next(field)) {
    switch (field.number) {
      case 1:
        if (model.pieces.size() == kMaxPieces)
          throw make_error(ErrorCode::resource_exhausted, "it has more than ", kMaxPieces, " pieces");
        model.pieces.push_back(read_piece(reader.message(field)));
        break;
      case 2: read_trainer_spec(reader.message(field), model); break;
      case 3: read_normalizer_spec(reader.message(field), model); break;
      default: break;
    }
  }
  if (model.pieces.empty()) throw Error(ErrorCode::corrupt, "it has no pieces");
  return model;
}

}  // namespace

SentencePieceModel parse_sentencepiece_model(std::span<const std::byte> file, std::string_view what) {
  try {
    return parse_model(file);
  } catch (const Error& error) {
    throw error.with_context(std::string(what) + " is no model of SentencePiece");
  }
}

}  // namespace alate::tokenizers
