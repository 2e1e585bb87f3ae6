"""What stands beside a vocabulary and changes how text is cut, or what is written: obeyed, or told."""

from collections.abc import Mapping
from typing import Any

from regard.errors import UserError
from regard.interop.files.hugging_face import Folder
from regard.interop.tokens.trees import FLAGS, Tree, added, content, flat, numbers_of

SETTINGS, SYMBOLS, ADDED = "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"
GENERATION = "generation_config.json"
AS_IT_IS = ("PreTrainedTokenizerFast", "TokenizersBackend")  # classes that take a tokenizer.json as it is
EVEN = {
    "do_lower_case": "lowercase",
    "strip_accents": "strip_accents",
    "tokenize_chinese_chars": "handle_chinese_chars",
}
SEARCH: dict[str, tuple[Any, ...]] = {  # what generation may ask for that is not done here, with what asks for nothing
    "num_beams": (1,),
    "length_penalty": (1, 1.0),
    "min_length": (0,),
    "min_new_tokens": (0,),
    "no_repeat_ngram_size": (0,),
    "encoder_no_repeat_ngram_size": (0,),
    "repetition_penalty": (1, 1.0),
    "suppress_tokens": ([],),
    "begin_suppress_tokens": ([],),
    "forced_decoder_ids": ([],),
}


def flag(given: Mapping[str, Any], name: str, usual: bool | None, where: str) -> bool | None:
    """A setting that is on or off, or left to others."""
    value = given.get(name, usual)
    if value is not None and type(value) is not bool:
        raise UserError(f"{where}: {name} = {value!r} is neither true nor false")
    return usual if value is None else value


def obeyed(tree: Tree, folder: Folder) -> Tree:
    """A `tokenizer.json` with what the settings beside it say otherwise."""
    given, where = folder.json(SETTINGS), str(folder.path / SETTINGS)
    if given.get("tokenizer_class") not in AS_IT_IS:
        even = {theirs: flag(given, name, None, where) for name, theirs in EVEN.items() if name in given}
        tree = {**tree, "normalizer": changed(tree.get("normalizer"), "BertNormalizer", even)}
    blank = flag(given, "add_prefix_space", None, where)
    if blank is None:
        return tree
    if not blank and puts_blank(tree):
        raise UserError(
            f"{where} says add_prefix_space = false, and tokenizer.json puts a blank before every text: "
            "they disagree; take the setting out if the model was trained with the blank"
        )
    return {**tree, "pre_tokenizer": changed(tree.get("pre_tokenizer"), "ByteLevel", {"add_prefix_space": blank})}


def changed(step: Any, kind: str, values: Mapping[str, Any]) -> Any:
    """A step, or each step of several, of this kind with other values."""
    if not isinstance(step, dict):
        return step
    if step.get("type") == kind:
        return {**step, **values}
    several = {name: step[name] for name in ("normalizers", "pretokenizers") if isinstance(step.get(name), list)}
    return {**step, **{name: [changed(each, kind, values) for each in steps] for name, steps in several.items()}}


def puts_blank(tree: Tree) -> bool:
    """Whether a blank that is no byte is put before every text."""
    steps = [*flat(tree.get("normalizer")), *flat(tree.get("pre_tokenizer"))]
    schemes = [step.get("prepend_scheme") for step in steps if step.get("type") == "Metaspace"]
    return any(step.get("type") == "Prepend" for step in steps) or any(scheme != "never" for scheme in schemes)


def more_added(tree: Tree, folder: Folder, where: str) -> Tree:
    """With the tokens that were added behind a vocabulary, and stand in files of their own."""
    given, numbers = tree.get("added_tokens") or [], numbers_of(tree, where)
    known = {token["content"] for token in given}
    found = {}
    for token in told_added(folder):
        name, number = token["content"], token["id"]
        if numbers.get(name, number) != number:
            raise UserError(f"{where} has {name!r} as {numbers[name]}, and a file beside it as {number}")
        if name not in known:
            found[name] = token
    return {**tree, "added_tokens": [*given, *sorted(found.values(), key=lambda token: token["id"])]}


def told_added(folder: Folder) -> list[Tree]:
    """The added tokens of both files, as `tokenizer.json` has them."""
    settings, plain = folder.json(SETTINGS), folder.json(ADDED)
    records, where = settings.get("added_tokens_decoder") or {}, str(folder.path / SETTINGS)
    if not isinstance(records, dict) or not all(n.isdecimal() and content(token) for n, token in records.items()):
        raise UserError(f"{where} is damaged: added_tokens_decoder has no number and no name for each token")
    if not all(type(number) is int for number in plain.values()):
        raise UserError(f"{folder.path / ADDED} is damaged: it has no number for each token")
    special = {content(value) for key, value in {**folder.json(SYMBOLS), **settings}.items() if key.endswith("_token")}
    found = [
        {**added(name, number, special=name in special), "normalized": name not in special}
        for name, number in plain.items()
    ]
    for number, token in records.items():
        flags = {name: bool(token.get(name, False)) for name in (*FLAGS, "special")} if isinstance(token, dict) else {}
        found.append({**added(content(token), int(number)), **flags})
    return found


def ends(given: Mapping[str, Any], generation: Mapping[str, Any], rows: int) -> tuple[int, ...]:
    """The tokens that end a text; what generation says of them goes before what the model says."""
    asked = generation.get("eos_token_id")
    asked = asked if asked is not None else given.get("eos_token_id")
    also = [given.get(key) for key in ("eot_token_id", "eom_token_id")]
    each = [*(asked if isinstance(asked, list) else [asked]), *also]
    return tuple(dict.fromkeys(token for token in each if type(token) is int and 0 <= token < rows))


def never(given: Mapping[str, Any], rows: int) -> tuple[int, ...]:
    """The tokens that are not to be written."""
    return tuple(word[0] for word in bad_words(given) if len(word) == 1 and 0 <= word[0] < rows)


def bad_words(given: Mapping[str, Any]) -> list[list[int]]:
    words = given.get("bad_words_ids")
    there = [word for word in words if isinstance(word, list)] if isinstance(words, list) else []
    return [word for word in there if word and all(type(token) is int for token in word)]


def remarks(generation: Mapping[str, Any], config: Mapping[str, Any]) -> list[str]:
    """What is asked of those who write with this model, and is not done here."""
    given = {**config, **generation}
    asked = {key: given[key] for key, nothing in SEARCH.items() if given.get(key) not in (*nothing, None)}
    listed = ", ".join(f"{key} = {value}" for key, value in asked.items())
    found = [f"{listed} asked for there is not done here; give it to each command, as in --beam 4"]
    long = [word for word in bad_words(given) if len(word) > 1]
    return (found if asked else []) + ([f"{len(long)} words of several tokens may be written here"] if long else [])
