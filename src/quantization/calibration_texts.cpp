#include "quantization/calibration_texts.h"

#include <array>

namespace alate::quantization {
namespace {

constexpr std::array kTexts = {
    // Sentences of a few lines.
    "The ferry leaves at seven in the morning, and whoever misses it waits until Thursday.",
    "She repaired the clock on the town hall, although nobody had asked her to, and from then on the whole street was "
    "punctual.",
    "Heavy rain is expected along the coast tonight; farmers are told to bring their animals to higher ground.",
    "A baker needs flour, water, salt and patience. The last of these cannot be bought.",
    "After the merger the company closed two warehouses in the north and hired ninety drivers for the new depot near "
    "the airport.",
    "Shares of the steel maker fell by 4.7 % after it cut its forecast for the second time this year.",
    "The museum shows forty landscapes by a painter of whom nothing is known but his initials.",
    "In the seventy-third minute the goalkeeper left her line, lost the ball at the edge of the box, and the visitors "
    "equalised.",
    "My grandmother kept letters in a biscuit tin; most of them are about the weather, and one is not.",
    "Copper conducts heat so well that the handle of a copper pan has to be made of something else.",
    "The committee met four times without reaching a quorum. Its report is two hundred pages long.",
    "Bees find their way back to the hive by the sun, and on cloudy days by the pattern of polarised light in the sky.",
    "The patient, a man of 54, complained of pain in the left shoulder that began after lifting a wardrobe.",
    "Take one tablet twice a day with food; do not take it together with grapefruit juice or if you are allergic to "
    "penicillin.",
    "The tenant shall give notice in writing not later than the third working day of a month to the end of the month "
    "after next.",
    "Either party may terminate this agreement for cause if the other fails to remedy a material breach within thirty "
    "days.",
    "It is hereby declared that no person shall be held liable for advice given in good faith under section 12(b).",
    "We hike to the lake on Saturday if the snow on the pass has melted; bring sturdy boots and a second pair of "
    "socks.",
    "The violin has four strings tuned in fifths, the guitar six, and a concert harp forty-seven with seven pedals.",
    "Light from the nearest large galaxy set out about two and a half million years ago.",
    "Mitochondria have DNA of their own, which in most animals is inherited from the mother alone.",
    "An enzyme lowers the energy that a reaction needs to begin; it does not change where the equilibrium lies.",
    "Let f be continuous on a closed interval; then f takes every value between its values at the two ends.",
    "If n is odd, then n squared leaves the remainder 1 when it is divided by 8.",
    "The harbour was built by merchants who wanted to avoid the toll at the river's mouth, and it silted up within a "
    "century.",
    "When the emperor died without an heir, three of his generals claimed the throne and divided the provinces among "
    "them.",
    "\"You said the bridge was safe,\" he shouted over the wind. \"I said it was old,\" she answered, and walked on.",
    "Nobody noticed the smell of smoke until the orchestra had reached the slow movement.",
    "Fold the egg whites into the batter in three portions, pour it into a buttered tin and bake for 35 minutes at 180 "
    "degrees.",
    "Slice the onions thinly, let them soften in oil without browning, add cumin, tomatoes and a pinch of sugar, and "
    "simmer.",
    "The room was clean but the walls are thin, breakfast ends at nine, and the lift has been out of order since "
    "spring. Two stars.",
    "Best headphones I have had for this price: light, long battery life, the microphone is only so-so.",
    "Arrived late and with a broken hinge. The seller sent a new one within two days, so I cannot complain.",
    "lol ok see u there at 8, dont forget the charger this time",
    "ngl that movie was mid, the soundtrack carried it tho",
    "Dear all, please find attached the minutes of Monday's meeting. Corrections by Friday, thanks. Kind regards, "
    "Miriam",
    "Your parcel could not be delivered. Collect it from the depot in Mill Lane, open Monday to Saturday from 8 am to "
    "6 pm.",
    "BREAKING: trains between the capital and the south suspended after signal failure",
    "How to prune an apple tree in late winter without weakening it",
    "Five mistakes that beginners make when they buy a used bicycle",
    "A short history of paper",
    // Questions.
    "How many litres are there in a barrel of oil?",
    "why does my sourdough not rise overnight in the fridge",
    "What is the difference between a crocodile and an alligator?",
    "who wrote the first dictionary of the Icelandic language",
    "Is it safe to eat potatoes that have turned green?",
    "best time of year to see whales near the Azores",
    "How can I undo the last commit but keep the changes in my working tree?",
    "Can a landlord raise the rent twice within one year?",
    "What should I do if the engine warning light stays on after refuelling?",
    "convert 72 inches to cm",
    "Which countries border both the Black Sea and the Mediterranean?",
    "Where do I find the serial number of the washing machine?",
    "cheap flights lisbon september",
    "symptoms of iron deficiency",
    // Words, names, scraps.
    "lighthouse",
    "wheelbarrow",
    "photosynthesis",
    "to hesitate",
    "unforgivable",
    "Q3 budget",
    "Maria Fernanda Oliveira",
    "Novosibirsk",
    "XK-220/B, black",
    "ok",
    "?",
    "3.14159",
    "n/a",
    "https://www.example.org/catalogue?item=4711&lang=en#reviews",
    "someone@example.com",
    "+49 30 1234567",
    "2019-02-28T23:59:59Z",
    "🎉 😀 ❤",
    // Code, configuration, logs, tables.
    "for (int i = 0; i < count; ++i) { total += prices[i] * amounts[i]; }",
    "def mean(values):\n    return sum(values) / len(values) if values else 0.0",
    "SELECT city, COUNT(*) FROM orders WHERE placed_at >= '2024-01-01' GROUP BY city ORDER BY 2 DESC;",
    "const ids = users.filter((u) => u.active).map((u) => u.id);",
    "<div class=\"card\"><h2>Opening hours</h2><p>Closed on Sundays</p></div>",
    "fn area(width: f64, height: f64) -> f64 { width * height }",
    "# install the tool for the current user\ncurl -fsSL https://example.org/install.sh | sh",
    "{\"name\": \"sensor-17\", \"temperature\": 21.4, \"ok\": true, \"tags\": [\"roof\", \"north\"]}",
    "server:\n  port: 8080\n  hosts: [alpha, beta]\n  timeout: 30s",
    "2023-11-04 06:12:44 ERROR [worker-3] connection to 10.0.0.12:5432 refused, retrying in 5 s (attempt 2 of 10)",
    "Traceback (most recent call last): File \"run.py\", line 12, in <module> KeyError: 'colour'",
    "Fixes a crash when the list of recent files is empty; adds a test for it.",
    "| fruit | kg | price |\n|---|---|---|\n| apples | 12 | 18.00 |\n| plums | 4 | 9.60 |",
    "name;height;weight\nAnna;171;64\nBo;183;80\nCleo;165;58",
    "E = m c^2, where c = 299792458 m/s",
    "\\int_0^1 x^2 \\, dx = \\frac{1}{3}",
    "1. Switch off the device. 2. Remove the cover. 3. Replace the fuse (T 2 A, 250 V). 4. Close the cover.",
    "Monday 9-12, Tuesday closed, Wednesday 14-18, Thursday 9-12 and 14-18, Friday by appointment",
    // Other languages.
    "Der Zug nach Leipzig fährt heute von Gleis 12 ab und hat voraussichtlich zwanzig Minuten Verspätung.",
    "Wie lange muss man ein weiches Ei kochen?",
    "Le boulanger ferme le lundi, mais la pâtisserie d'en face reste ouverte jusqu'à dix-neuf heures.",
    "Quel est le plus long fleuve d'Europe ?",
    "La biblioteca abre a las nueve y cierra cuando se va el último lector.",
    "¿Dónde puedo cambiar dinero cerca de la estación?",
    "Il treno per Bologna è in partenza dal binario tre; i viaggiatori sono pregati di salire.",
    "O mercado de peixe funciona todas as manhãs, menos ao domingo.",
    "De fiets staat achter het huis, naast de regenton.",
    "Jutro będzie padać śnieg, dlatego wyjeżdżamy wcześniej.",
    "V sobotu půjdeme do lesa na houby, jestli nebude pršet.",
    "Tåget är försenat på grund av ett fel på växeln.",
    "Kahvila avautuu kahdeksalta ja sulkeutuu auringon laskiessa.",
    "Yarın sabah pazara gidip taze ekmek ve peynir alacağız.",
    "Завтра утром мы поедем на дачу и будем сажать картошку.",
    "Το πλοίο φεύγει στις έξι το πρωί από το μεγάλο λιμάνι.",
    "المكتبة مفتوحة كل يوم من التاسعة صباحا حتى المساء",
    "הרכבת יוצאת בעוד עשר דקות",
    "कल सुबह हम बाज़ार जाकर सब्ज़ियाँ खरीदेंगे।",
    "明天早上我们坐火车去海边。",
    "図書館は月曜日に閉まっています。",
    "내일은 비가 와서 집에서 책을 읽을 거예요.",
    "พรุ่งนี้เราจะไปตลาดแต่เช้า",
    "Kesho asubuhi tutaenda sokoni kununua matunda.",
    "Ngày mai chúng tôi sẽ đi thăm bà ngoại ở quê.",
    // Longer texts.
    "The lake lies in a valley that was carved by ice. On its northern shore the slopes are steep and wooded, and the "
    "road has to pass through two tunnels; on the southern shore there are orchards, a campsite and a village whose "
    "church is older than the country it stands in. In summer boats cross every hour. In winter, when the surface "
    "freezes, people walk, although a sign in four languages forbids it.",
    "To replace the filter, turn off the main valve and open the tap until no more water comes. Unscrew the housing "
    "counter-clockwise with the key supplied, and catch the water that is left in a bucket. Take out the old "
    "cartridge, clean the seal with a soft cloth, and grease it with a little silicone. Insert the new cartridge with "
    "the arrow pointing upwards. Open the valve slowly and check for leaks. The cartridge should be replaced every six "
    "months, or when the flow becomes noticeably weaker.",
    "We compared two ways of teaching fractions to children of nine and ten. In the first group pupils folded strips "
    "of paper; in the second they solved the same problems on a screen. After six weeks there was no difference "
    "between the groups in a written test. Three months later, however, the first group remembered more, with a "
    "moderate effect size (d = 0.41, 95 % interval 0.12 to 0.70). We discuss what this may mean for lessons with few "
    "materials.",
    "Hello, I ordered a desk lamp on the 3rd of May (order 88213) and received two instead of one, of which one has a "
    "plug for another country. I would like to send back the wrong one, but the return form asks for a reason and none "
    "of those listed fits. Could you tell me which to choose, and whether I have to pay for the postage? Thank you "
    "very much.",
};

}  // namespace

std::vector<std::string> calibration_texts() { return {kTexts.begin(), kTexts.end()}; }

}  // namespace alate::quantization
