"""The 256 words that stand for bytes where two people compare them aloud (R10).

Three to eight letters, any two at least three letters apart, no two of one Soundex code, and none
with a common homophone.  The list is part of the protocol: it never changes, or two versions
would show different words for the same keys.
"""

from __future__ import annotations

from typing import Final

_LIST: Final = """
    acorn album algebra alley almanac amber anchor angel apple apron asphalt atlas attic autumn
    badge bamboo banjo barrel basket beacon beaver bicycle birch bishop blossom boat bonfire
    bottle bracelet branch bread broom bubble butter cabin cactus camel candle canyon captain
    carpet cedar chalk chapter cherry chess chimney circus clover cobweb coconut coffee compass
    copper coral cosmos cotton cousin coyote cricket crown cyclone daisy dancer dentist diamond
    doctor dolphin donkey doorbell dragon drum eagle earth eclipse elbow elephant emerald
    envelope evening fabric factory falcon farmer feather fiddle finger flag flamingo flute
    forest fossil fountain fox galaxy garden garlic gecko geyser giant giraffe glacier goblet
    gorilla guitar hamster harbor helmet hickory horizon hornet hotel iceberg igloo indigo
    insect iris island ivory jaguar jasmine jewel jigsaw jungle juniper kangaroo kayak kimono
    king kitchen koala ladder lagoon lantern lavender lemon leopard library lily lizard lobster
    locket lotus magician magnet marble meadow mermaid meteor mirror mosaic muffin museum
    mustard napkin nectar needle nickel nugget nutmeg oasis oatmeal octopus office olive onion
    opera orchid osprey oxygen palace panda paper parrot parsley pelican pencil pigeon pilgrim
    pillow planet pony postcard potato pudding pumpkin puzzle pyramid quartz queen quilt rabbit
    raccoon radish rainbow rainfall raven rhubarb ruby saffron sailor satchel saturn sawdust
    scarf school sidewalk silver skate sketch snowman spider spinach stable stadium summer
    sunset swan teapot teaspoon temple thunder topaz tornado tractor tripod truffle trumpet
    tulip tunnel turtle tuxedo umbrella unicorn utensil vampire vanilla vessel village vinegar
    violin volcano voyage vulture waffle walnut wardrobe wheat window wolf wombat yacht yogurt
    zebra zenith zigzag
"""
WORDS: Final = tuple(_LIST.split())


def words_for(data: bytes) -> list[str]:
    """Return one word for each byte."""
    return [WORDS[byte] for byte in data]
