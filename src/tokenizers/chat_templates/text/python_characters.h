// What Python's str knows of characters.
#pragma once

#include <string>
#include <string_view>

namespace alate::tokenizers::chat_templates {

bool is_space(char32_t c);       // str.isspace, str.strip, \s of regular expressions
bool is_line_end(char32_t c);    // str.splitlines
bool is_printable(char32_t c);   // not escaped by repr()
bool is_alphabetic(char32_t c);  // str.isalpha
bool is_decimal(char32_t c);     // str.isdecimal: a digit of a number in some script
bool is_digit(char32_t c);       // str.isdigit: superscripts too
bool is_numeric(char32_t c);     // str.isnumeric: fractions and other numerals too
bool is_lower(char32_t c);
bool is_upper(char32_t c);
bool is_title(char32_t c);
bool is_identifier(std::string_view text);
/// The digit's value; only for is_decimal.
int decimal_value(char32_t c);

std::string lower_text(std::string_view text);
std::string upper_text(std::string_view text);
std::string folded_text(std::string_view text);   // str.casefold
std::string swapped_text(std::string_view text);  // str.swapcase
std::string capitalized_text(std::string_view text);
std::string titled_text(std::string_view text);  // str.title

}  // namespace alate::tokenizers::chat_templates
