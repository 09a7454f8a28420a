"""Texts with personal data of invented people, from a seed: letters, forms, chats, records, and prose without any."""
import random

GIVEN = """Ada Bogdan Chidi Dolores Emre Fatima Giulia Haruki Ingrid Jamal Katarzyna Liam Mei Nadia Oluwaseun Priya Quentin
Rosalind Søren Tomás Ursula Vikram Wanjiru Ximena Yusuf Zoë Alexander Beatrice Carlos Deirdre Elijah Frida""".split()
SURNAMES = """Abernathy Bianchi Castellanos Dvořák Eriksson Fitzgerald Gutierrez Haddad Iwasaki Johansson Kowalczyk Lindqvist
Mbeki Nakamura O'Connor Petrov Quispe Rossi Schneider Takahashi Ueda Vasquez Whitfield Xu Yamamoto Zimmermann Adeyemi""".split()
STREETS = ["Maple Avenue", "Kingsway", "Rue de la Paix", "Elm Street", "Old Mill Road", "Sunset Boulevard", "Queen Anne's Gate",
           "Hauptstraße", "Cherry Lane", "Harbour View", "4th Street", "Calle Mayor", "Pine Crest Drive", "Market Square"]
CITIES = ["Springfield", "Manchester", "Portland", "San Antonio", "Lyon", "Reykjavik", "Cape Town", "Osaka", "Des Moines",
          "New Orleans", "Kraków", "Bangalore", "Austin", "Halifax", "Leeds", "Tallahassee"]
STATES = ["Ohio", "CA", "Texas", "New York", "Oregon", "FL", "Illinois", "Nova Scotia", "WA", "North Carolina"]
UNITS = ["Apt 4B", "Suite 210", "Unit 7", "Floor 3", "Apartment 12", "#506"]
HOSTS = ["example.com", "mail.example.org", "post.example.net", "inbox.test", "acme.example"]

FORMS = [
    "My name is {given} {surname} and I live at {number} {street}, {city}, {state} {zip}.",
    "Please call {given} on {phone} or write to {email} before Friday.",
    "Dear {given},\n\nthank you for your order. It will be sent to {number} {street}, {unit}, {city}, {state} {zip}.\n\nKind regards,\n{given2} {surname2}",
    "Name: {given} {surname}\nEmail: {email}\nPhone: {phone}\nSSN: {ssn}",
    "Passport {passport} was issued to {surname}, {given} in {city}.",
    "Wire it to account {account}, routing number {routing}, in the name of {given} {surname}.",
    "hi its {given_low}, my number changed to {phone}, text me when ur in {city}",
    "The driver's license of {given} {surname} ({license}) expires next month; her tax id is {tax}.",
    "{given} {surname} <{email}> wrote: see {url} for the slides.",
    "ATTENTION {surname_up}: YOUR PARCEL IS AT {number} {street_up}, {city_up}.",
    "Patient {given} {surname}, MRN {tax}, phone {phone}, was seen by Dr. {surname2} on Tuesday.",
    "I met {given} and {given2} in {city} last year; {given2} still lives there, on {street}.",
    "Ship to:\n{given} {surname}\n{number} {street}\n{unit}\n{city}, {state} {zip}\nUSA",
    "{{\"customer\": \"{given} {surname}\", \"email\": \"{email}\", \"zip\": \"{zip}\"}}",
    "User {email} logged in from {city}. Session opened at {url}.",
    "Mi nombre es {given} {surname} y vivo en {street} {number}, {city}.",
    "Ich heiße {given} {surname}, wohne in {city} und bin unter {phone} zu erreichen.",
    "Can you check whether {given} {surname}'s national id {government} matches the one on file?",
    "Ms. {surname} moved from {city} to {city2}, {state}, where she rents {unit} at {number} {street}.",
    "Invoice for {surname} & {surname2} LLP, tax number {tax}, payable to IBAN GB{account}.",
    "From {given}'s notes: call {surname2} ({phone}), then send the form to {number} {street}, {zip} {city}.",
    "name,phone,city\n{given} {surname},{phone},{city}\n{given2} {surname2},{phone2},{city2}",
]
PROSE = [
    "The committee met on Tuesday and postponed the decision until the budget is known.",
    "Water boils at a lower temperature on a mountain because the pressure of the air is lower there.",
    "To install the package, open a terminal and run the command; then restart the service.",
    "She had never seen the sea before, and she could not stop looking at it.",
    "Version 2.14.3 fixes a crash when the list is empty, and 40 other issues.",
    "The recipe asks for 250 grams of flour, two eggs and a pinch of salt.",
    "Sales rose by 12.5 % in the third quarter, to 3,480 units.",
    "La reunión empieza a las nueve y termina antes del almuerzo.",
    "Der Zug fährt um 14:05 Uhr von Gleis 9 ab.",
    "If the light is red, wait; if it is green, go, but look to both sides first.",
    "May will be warm, and June may be hot.",
    "The river flows north for 300 miles before it turns to the west.",
]


def digits(rng, pattern):
    return "".join(str(rng.randrange(10)) if c == "#" else rng.choice("ABCDEFGHJKLMNPRSTUVWXYZ") if c == "@" else c for c in pattern)


def values(rng):
    given, given2 = rng.sample(GIVEN, 2)
    surname, surname2 = rng.sample(SURNAMES, 2)
    city, city2 = rng.sample(CITIES, 2)
    street = rng.choice(STREETS)
    phones = ["(###) ###-####", "+1 ### ### ####", "###-###-####", "+44 20 #### ####", "0## ### ####", "##########"]
    user = rng.choice(["{0}.{1}", "{0}{1}", "{1}_{0}", "{0}"]).format(given.lower(), surname.lower().replace("'", ""))
    return {
        "given": given, "given2": given2, "surname": surname, "surname2": surname2, "city": city, "city2": city2,
        "street": street, "given_low": given.lower(), "surname_up": surname.upper(), "street_up": street.upper(),
        "city_up": city.upper(), "state": rng.choice(STATES), "unit": rng.choice(UNITS),
        "number": str(rng.randrange(1, 9900)), "zip": digits(rng, rng.choice(["#####", "#####-####", "@@# #@@"])),
        "phone": digits(rng, rng.choice(phones)), "phone2": digits(rng, rng.choice(phones)),
        "email": f"{user}@{rng.choice(HOSTS)}", "url": f"https://{rng.choice(HOSTS)}/{given.lower()}/{rng.randrange(1000)}",
        "ssn": digits(rng, "###-##-####"), "passport": digits(rng, rng.choice(["@########", "#########"])),
        "account": digits(rng, "##########"), "routing": digits(rng, "#########"), "license": digits(rng, "@###-####-####"),
        "tax": digits(rng, "##-#######"), "government": digits(rng, "@@ ## ## ## @"),
    }  # fmt: skip


def texts(count, seed):
    """A third are single forms, a third forms among prose, the rest several people in one text; some have no data."""
    rng = random.Random(seed)
    made = []
    for i in range(count):
        forms = [rng.choice(FORMS).format(**values(rng)) for _ in range((1, 1, 3)[i % 3])]
        prose = rng.sample(PROSE, (0, 2, 1)[i % 3])
        if i % 10 == 9:
            forms = []
            prose = rng.sample(PROSE, 2)
        parts = forms + prose
        rng.shuffle(parts)
        made.append(rng.choice([" ", "\n"]).join(parts))
    return made
