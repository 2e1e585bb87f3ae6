"""The words of `senses`: what may be said with each sense of a word, and the words that tell which one is meant."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Ambiguous:
    """A word, what can be said of it in every sense, and for each sense the words that tell it."""

    word: str
    said: tuple[str, ...]
    senses: dict[str, tuple[str, ...]]


def ambiguous(word: str, said: str, **senses: str) -> Ambiguous:
    told = {sense: tuple(words.split()) for sense, words in senses.items()}
    return Ambiguous(word, tuple(part.strip() for part in said.split(",")), told)


NAMES = ("Anna", "Peter", "Mary", "Paul", "Clara", "Tom", "my sister", "my uncle", "the doctor", "our neighbour")
WORDS = (
    ambiguous(
        "bank",
        "{who} went to the bank, {who} waited near the bank, the bank was very quiet, nobody was at the bank, "
        "{who} could see the bank from the road, {who} met {other} at the bank",
        river="river boat fish flood ducks mud water bridge",
        money="money loan cheque coins savings thief account gold",
    ),
    ambiguous(
        "plays",
        "{who} plays very well, {who} plays every Saturday, {who} still plays here, {who} plays better than {other}, "
        "everybody knows how {who} plays, {who} never plays alone",
        sport="basketball team ball goal stadium trainer players referee",
        stage="role theatre actors curtain audience costume drama king",
    ),
    ambiguous(
        "bat",
        "{who} saw the bat, the bat was small and brown, {who} looked for the bat, {who} drew the bat, "
        "the bat lay on the grass, {who} held the bat",
        animal="cave wings night insects owl moon forest darkness",
        game="ball team players trainer baseball pitcher stadium gloves",
    ),
    ambiguous(
        "spring",
        "{who} waited for the spring, {who} loved the spring, the spring was very cold, {who} remembered the spring, "
        "{who} wrote a song about the spring, nothing was as lovely as the spring",
        season="winter snow flowers calendar storks sunshine farmer holidays",
        water="well bucket rocks stream thirst bottle valley river",
    ),
    ambiguous(
        "light",
        "{who} said that it was light, {who} found it light enough, it was surprisingly light, it was too light, "
        "{who} told {other} that it was light, nobody knew why it was so light",
        bright="sun window lamp morning candles dawn moon curtain",
        weight="suitcase feathers scales load luggage paper backpack parcel",
    ),
    ambiguous(
        "watch",
        "{who} waited for the watch, the watch was very old, {who} heard the watch, {who} spoke of the watch, "
        "everybody looked at the watch, the watch came too late",
        clock="wrist minutes jeweller hour pocket battery clock gold",
        guard="soldiers enemy gate tower sailors night attack castle",
    ),
    ambiguous(
        "ring",
        "{who} looked at the ring, the ring was not large, {who} forgot the ring, {who} drew the ring, "
        "{who} dreamt about the ring, {who} was near the ring",
        jewel="bride gold wedding finger diamond jeweller king thief",
        boxing="boxers fight gloves champion trainer punches referee audience",
    ),
    ambiguous(
        "crane",
        "{who} pointed at the crane, the crane was very tall, the crane turned slowly, {who} drew the crane, "
        "{who} watched the crane for an hour, the crane stood near the water",
        bird="feathers nest lake eggs wings marsh storks forest",
        machine="builders bricks tower steel harbour cable bridge load",
    ),
    ambiguous(
        "seal",
        "{who} looked at the seal, the seal was round, {who} found the seal, {who} touched the seal, "
        "the seal was old and grey, {who} drew the seal",
        animal="beach fish ice waves zoo penguins sailors boat",
        stamp="letter wax paper envelope contract lawyer parcel ink",
    ),
    ambiguous(
        "pitch",
        "{who} spoke of the pitch, the pitch was perfect, {who} checked the pitch, {who} was happy with the pitch, "
        "the pitch was not good, {who} changed the pitch",
        sport="football grass players goal referee rain team mud",
        tone="violin singer choir piano voice flute song orchestra",
    ),
    ambiguous(
        "match",
        "{who} waited for the match, the match was soon over, {who} forgot the match, {who} looked at the match, "
        "the last match was short, {who} needed one more match",
        game="team stadium players goal referee trainer champion football",
        fire="candles smoke stove pipe lamp fireplace flame darkness",
    ),
    ambiguous(
        "palm",
        "{who} drew the palm, the palm was wide, {who} touched the palm, {who} pointed at the palm, "
        "{who} looked at the palm, the palm was dry",
        tree="desert coconuts island beach leaves camels monkeys sunshine",
        hand="finger gloves thumb wrist scar nails bandage skin",
    ),
)
