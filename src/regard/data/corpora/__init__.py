"""Built-in corpora, made by our own code: nothing copied, nothing downloaded."""

from regard.data.corpora.articles import ARTICLES
from regard.data.corpora.corpus import Corpus
from regard.data.corpora.distant import DISTANT
from regard.data.corpora.listops import LISTOPS
from regard.data.corpora.moods import MOODS
from regard.data.corpora.recall import RECALL
from regard.data.corpora.reviews import REVIEWS
from regard.data.corpora.road import ROAD, ROAD_LONG
from regard.data.corpora.senses import SENSES
from regard.data.corpora.sequences import COPY, REVERSE
from regard.data.corpora.stdlib import STDLIB
from regard.data.corpora.stories import STORIES
from regard.data.corpora.tags import TAGS, TREES

CORPORA = {
    corpus.name: corpus
    for corpus in (
        *(ROAD, ROAD_LONG, STDLIB, MOODS, REVIEWS, STORIES, TAGS, TREES, SENSES),
        *(COPY, REVERSE, RECALL, DISTANT, LISTOPS, ARTICLES),
    )
}


def built_in(name: str) -> Corpus | None:
    """The corpus of this name, if it is one; `recall:32` is `recall` with records of that length."""
    plain, colon, length = name.partition(":")
    corpus = CORPORA.get(plain)
    return corpus.of(length) if corpus and colon else corpus
