"""A sentence as a tree of phrases, and the ways of writing it: words, tags, brackets, CoNLL-U.

Each part of a phrase says what it is to the phrase's head, as Universal Dependencies name it, so the tree of
dependencies follows from the tree of phrases.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

HEAD = "head"  # the part that a phrase is built around


@dataclass(frozen=True)
class Leaf:
    """A word, its lemma and its tag of Universal Dependencies."""

    form: str
    lemma: str
    tag: str


@dataclass(frozen=True)
class Phrase:
    """Parts in order, each with its relation to the one that is the head. Without a label it has no brackets."""

    label: str
    parts: tuple[tuple[str, "Tree"], ...]


Tree = Leaf | Phrase


def phrase(label: str, *parts: tuple[str, Tree]) -> Phrase:
    return Phrase(label, parts)


def leaves(tree: Tree) -> Iterator[Leaf]:
    """The words in order."""
    if isinstance(tree, Leaf):
        yield tree
    else:
        for _, part in tree.parts:
            yield from leaves(part)


def capital(tree: Tree) -> Tree:
    """The same with a capital at the beginning."""
    if isinstance(tree, Leaf):
        return replace(tree, form=tree.form[0].upper() + tree.form[1:])
    (relation, first), *rest = tree.parts
    return replace(tree, parts=((relation, capital(first)), *rest))


def words(tree: Tree) -> str:
    return " ".join(leaf.form for leaf in leaves(tree))


def tags(tree: Tree) -> str:
    return " ".join(leaf.tag for leaf in leaves(tree))


def brackets(tree: Tree) -> str:
    """ "(S (NP The chicken) (VP crosses (NP the road)) .)" """
    if isinstance(tree, Leaf):
        return tree.form
    inside = " ".join(brackets(part) for _, part in tree.parts)
    return f"({tree.label} {inside})" if tree.label else inside


def arcs(tree: Tree) -> list[tuple[Leaf, int, str]]:
    """Each word with the number of the word it hangs on, from 1, and as what; the root hangs on 0."""
    found: list[tuple[Leaf, int, str]] = []
    hang(tree, found)
    return found


def hang(tree: Tree, found: list[tuple[Leaf, int, str]]) -> int:
    """Put a tree's words at the end of `found`, each hung on its own; the place of the one that hangs on none."""
    if isinstance(tree, Leaf):
        found.append((tree, 0, "root"))
        return len(found) - 1
    places = [(relation, hang(part, found)) for relation, part in tree.parts]
    (head,) = (place for relation, place in places if relation == HEAD)
    for relation, place in places:
        if relation != HEAD:
            found[place] = (found[place][0], head + 1, relation)
    return head


def conllu(tree: Tree, name: str) -> str:
    """The sentence in CoNLL-U, with the empty line that ends it."""
    rows = [f"# sent_id = {name}", f"# text = {words(tree)}"]
    for number, (leaf, head, relation) in enumerate(arcs(tree), 1):
        rows.append("\t".join((str(number), leaf.form, leaf.lemma, leaf.tag, "_", "_", str(head), relation, "_", "_")))
    return "\n".join((*rows, "", ""))
