"""The kinds of the bundled wiki: an invented country, so that no model has read about it."""

from vm_bridge.suites.questions.schema import Kind, NumberAttribute, Relation, WordAttribute, YearGap


def _year(verb: str, least: int, most: int, question: str) -> NumberAttribute:
    return NumberAttribute(f"{verb} in {{value}}", f"{verb} in {{range}}", question, least, most, 50)


KINDS: dict[str, Kind] = {
    "person": Kind(
        "a person", "people", "{title}",
        {
            "born": _year("was born", 1300, 1899, "In which year was {thing} born?"),
            "profession": WordAttribute("worked as {a_value}", {
                "measured land for a living": ("cartographer", "surveyor"),
                "worked with great heat": ("glassblower", "blacksmith", "bellfounder"),
                "knew what grows": ("botanist", "gardener", "forester"),
                "looked after the sick": ("physician", "midwife", "apothecary"),
                "was paid for making music": ("organist", "violinist", "choirmaster"),
                "fed strangers": ("baker", "innkeeper"),
                "followed the sky": ("astronomer", "meteorologist"),
                "made things out of fibres": ("weaver", "ropemaker", "tailor"),
            }),
            "pastime": WordAttribute("collected {value} in spare hours", {
                "kept small creatures or what they leave": ("beetles", "shells", "feathers"),
                "gathered what others had written": ("letters", "riddles", "recipes"),
                "hoarded old metal": ("coins", "keys"),
                "brought home pieces of the ground": ("fossils", "crystals"),
                "kept what tells the hour": ("sundials", "hourglasses"),
            }),
        },
        {
            "birthplace": Relation("town", "the town where {thing} was born", "The birthplace is {link}.", YearGap("born", "founded", 0, 2_000)),
            "teacher": Relation("person", "the teacher of {thing}", "The teacher was {link}.", YearGap("born", "born", 12, 70)),
        },
    ),
    "town": Kind(
        "a town", "towns", "{title}",
        {
            "founded": _year("was founded", 900, 1499, "In which year was {thing} founded?"),
            "population": NumberAttribute("has {value} inhabitants", "has {range}", "How many inhabitants has {thing}?", 1_000, 99_999, 5_000, "inhabitants"),
            "emblem": WordAttribute("carries {a_value} in its arms", {
                "has a bird of prey in its arms": ("falcon", "owl", "kite"),
                "has something that swims in its arms": ("pike", "salmon", "otter"),
                "has a tool of the fields in its arms": ("scythe", "plough"),
                "has a fruit in its arms": ("pear", "quince", "plum"),
                "has a weapon in its arms": ("halberd", "crossbow"),
            }),
        },
        {"river": Relation("river", "the river that runs through {thing}", "It lies on the {link}.")},
    ),
    "river": Kind(
        "a river", "rivers", "The {title}",
        {
            "length": NumberAttribute("is {value} kilometres long", "is {range} long", "How many kilometres long is {thing}?", 20, 899, 50, "kilometres"),
            "colour": WordAttribute("is {value} after rain", {
                "turns to the colour of earth in wet weather": ("brown", "ochre"),
                "turns to the colour of leaves in wet weather": ("emerald", "olive"),
                "turns pale in wet weather": ("milky", "chalky"),
            }),
        },
        {"source": Relation("mountain", "the mountain on which {thing} rises", "It rises on {link}.")},
    ),
    "mountain": Kind(
        "a mountain", "mountains", "{title}",
        {
            "height": NumberAttribute("is {value} metres high", "is {range} high", "How many metres high is {thing}?", 600, 4_799, 200, "metres"),
            "rock": WordAttribute("consists of {value}", {
                "came out of the earth hot": ("basalt", "granite", "obsidian"),
                "was once the floor of a sea": ("limestone", "sandstone", "slate"),
            }),
        },
    ),
    "book": Kind(
        "a book", "books", "{title}",
        {
            "published": _year("was published", 1500, 1949, "In which year was {thing} published?"),
            "genre": WordAttribute("is {a_value}", {
                "is meant to frighten or to puzzle": ("mystery", "thriller"),
                "tells of a journey": ("travelogue", "odyssey"),
                "can be performed or sung": ("tragedy", "libretto", "comedy"),
                "tells of a real life": ("biography", "memoir"),
            }),
            "pages": NumberAttribute("has {value} pages", "has {range}", "How many pages has {thing}?", 80, 899, 50, "pages"),
        },
        {
            "author": Relation("person", "the author of {thing}", "It was written by {link}.", YearGap("published", "born", 20, 70)),
            "setting": Relation("town", "the town in which {thing} is set", "It is set in {link}.", YearGap("published", "founded", 0, 2_000)),
        },
    ),
    "bridge": Kind(
        "a bridge", "bridges", "The {title}",
        {
            "opened": _year("was opened", 1400, 1949, "In which year was {thing} opened?"),
            "span": NumberAttribute("spans {value} metres", "spans {range}", "How many metres does {thing} span?", 20, 499, 40, "metres"),
            "material": WordAttribute("is made of {value}", {
                "is made of what was dug up and cut or fired": ("marble", "brick"),
                "is made of what grew": ("oak", "larch"),
                "is made of what was smelted": ("iron", "steel"),
            }),
        },
        {
            "river": Relation("river", "the river under {thing}", "It crosses the {link}."),
            "builder": Relation("person", "the builder of {thing}", "It was built by {link}.", YearGap("opened", "born", 25, 70)),
        },
    ),
    "museum": Kind(
        "a museum", "museums", "The {title}",
        {
            "opened": _year("received its first visitors", 1700, 1999, "In which year did {thing} receive its first visitors?"),
            "collection": WordAttribute("shows {value}", {
                "shows what people wore": ("gloves", "hats", "masks"),
                "shows what makes sounds": ("flutes", "harpsichords", "gramophones"),
                "shows what people played with": ("dolls", "kites", "chessboards"),
                "shows what helped sailors": ("lanterns", "sextants", "anchors"),
            }),
        },
        {
            "town": Relation("town", "the town of {thing}", "It stands in {link}.", YearGap("opened", "founded", 0, 2_000)),
            "founder": Relation("person", "the founder of {thing}", "It was founded by {link}.", YearGap("opened", "born", 25, 75)),
        },
    ),
    "festival": Kind(
        "a festival", "festivals", "The {title}",
        {
            "since": _year("was first held", 1500, 1999, "In which year was {thing} first held?"),
            "month": WordAttribute("falls in {value}", {
                "falls in the coldest quarter of the year": ("December", "January", "February"),
                "falls between the snow and the heat": ("March", "April", "May"),
                "falls in the warmest quarter of the year": ("June", "July", "August"),
                "falls when leaves turn": ("September", "October", "November"),
            }),
            "custom": WordAttribute("is known for its {value}", {
                "makes people race each other": ("regatta", "sprints", "sledding"),
                "makes people eat more than they should": ("pancakes", "dumplings"),
                "keeps people awake after dark": ("bonfires", "fireworks", "torchlight"),
            }),
        },
        {"town": Relation("town", "the town that holds {thing}", "It is held in {link}.", YearGap("since", "founded", 0, 2_000))},
    ),
    "company": Kind(
        "a company", "companies", "{title}",
        {
            "founded": _year("began its business", 1600, 1949, "In which year did {thing} begin its business?"),
            "product": WordAttribute("makes {value}", {
                "makes what people sit or lie on": ("armchairs", "hammocks", "mattresses"),
                "makes what people write with": ("pencils", "inkwells", "typewriters"),
                "makes what keeps people dry": ("umbrellas", "raincoats", "tents"),
                "makes what is eaten sweet": ("caramels", "marmalade", "nougat"),
            }),
        },
        {
            "seat": Relation("town", "the town where {thing} has its seat", "Its seat is in {link}.", YearGap("founded", "founded", 0, 2_000)),
            "founder": Relation("person", "the founder of {thing}", "It was founded by {link}.", YearGap("founded", "born", 20, 70)),
        },
    ),
}  # fmt: skip
"""The schema, by kind."""

COUNTS = {"person": 120, "town": 60, "river": 24, "mountain": 20, "book": 60, "bridge": 40, "museum": 40, "festival": 36, "company": 40}  # fmt: skip
"""How many of each kind an edition has."""
