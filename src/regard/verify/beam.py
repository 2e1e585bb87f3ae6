"""beam 1 = greedy: a search that keeps one beginning takes the likeliest token at every step."""

from regard.checkpoint import Run
from regard.decode.beam import beam_search
from regard.decode.session import Session
from regard.decode.settings import Decode
from regard.verify.check import Finding, needs_text
from regard.verify.inputs import Inputs
from regard.verify.texts import MOST, compare_texts, continued, equally_likely


def check(run: Run, inputs: Inputs) -> Finding:
    needs_text(run)
    model, tokenizer = run.model, run.tokenizer
    rows = [tokenizer.begun([] if inputs.sources is not None else text[1:]) for text in inputs.texts]
    most = MOST if inputs.sources is None else MOST if model.limit is None else min(MOST, model.limit)
    session = Session(model, rows, room=most, sources=inputs.sources, never=tokenizer.habits.never)
    searched = [best for (best,) in beam_search(session, Decode(beam=1), ends=tokenizer.ends, most=most)]
    found = Finding([len(row) for row in inputs.sources or inputs.texts])
    compare_texts(found, searched, continued(run, inputs, beam=1), "beam 1", equally_likely(run, inputs))
    return found
