"""Built-in corpora, made by our own code: nothing copied, nothing downloaded."""

from regard.data.corpora.moods import MOODS
from regard.data.corpora.reviews import REVIEWS
from regard.data.corpora.road import ROAD, ROAD_LONG
from regard.data.corpora.senses import SENSES
from regard.data.corpora.sequences import COPY, REVERSE
from regard.data.corpora.stdlib import STDLIB
from regard.data.corpora.stories import STORIES
from regard.data.corpora.tags import TAGS, TREES

CORPORA = {
    corpus.name: corpus
    for corpus in (ROAD, ROAD_LONG, STDLIB, MOODS, REVIEWS, STORIES, TAGS, TREES, SENSES, COPY, REVERSE)
}
