"""Built-in corpora, made by our own code: nothing copied, nothing downloaded."""

from regard.data.corpora.moods import MOODS
from regard.data.corpora.road import ROAD, ROAD_LONG
from regard.data.corpora.sequences import COPY, REVERSE
from regard.data.corpora.stdlib import STDLIB

CORPORA = {corpus.name: corpus for corpus in (ROAD, ROAD_LONG, STDLIB, MOODS, COPY, REVERSE)}
