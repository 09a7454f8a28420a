// The texts by which dtype `auto` judges types.
#include "pipelines/embed/dtype_choice.h"

namespace alate::pipelines {

std::span<const std::string> choice_texts() {
  static const std::vector<std::string> texts = {
      "harbour",
      "The ferry leaves at seven, and whoever misses it waits until noon.",
      "Why does bread rise faster in a warm kitchen?",
      "Invoice 20931: three chairs at 49.90 each, one table at 210.00, delivery free.",
      "for (std::size_t row = 0; row < rows; ++row) total += weights[row] * input[row];",
      "Patients with untreated sleep apnoea have a higher risk of high blood pressure and stroke.",
      "Der Zug nach Leipzig hat heute leider zwanzig Minuten Verspätung.",
      "El museo cierra los lunes, pero el jardín está abierto todos los días.",
      "Error 404: the page that you asked for has moved or never was here. Check the address and try again.",
      "To repot a fern, loosen the roots with your fingers, trim what is brown, and water it well before and after.",
      ("The committee voted 7 to 2 against the motion; its chair abstained, saying that the figures of the last "
       "quarter had reached the members too late to be read with any care."),
      "lightweight waterproof jacket, men's, navy blue, size L",
      "Photosynthesis turns carbon dioxide and water into sugar, with light as the source of energy.",
      "Can I change my booking after I have paid, and what does it cost?",
      "SELECT city, COUNT(*) FROM orders WHERE year = 2019 GROUP BY city;",
      "She closed the book, looked out at the rain, and decided that tomorrow would do as well."};
  return texts;
}

}  // namespace alate::pipelines
