"""Commands that use runs."""

from typing import Annotated, Any

from cyclopts import Parameter

from regard.cli.options import DecodeOptions, Device, Json, Runs, TranslateOptions, flag, repeated, several
from regard.cli.output import counting, emit, note
from regard.errors import UserError

Tokens = Annotated[bool, flag("Print each token with its log-probability.")]


def evaluate(
    run: Runs,
    /,
    *,
    data: Annotated[
        tuple[str, ...], several("One file (text, .tsv, .csv, .jsonl) or two parallel ones (source, target).")
    ] = (),
    set_: Annotated[
        tuple[str, ...],
        repeated("How these files are read: data.fields.COLUMN=NAME, data.document or data.tags.", name="--set"),
    ] = (),
    decode: TranslateOptions = TranslateOptions(),
    stride: Annotated[
        int | None, Parameter(help="Language models: windows overlap; each begins so many tokens after the last.")
    ] = None,
    context: Annotated[
        int | None, Parameter(help="Read texts of so many tokens, whatever length the run was trained on.")
    ] = None,
    lowercase: Annotated[bool, flag("Score BLEU and chrF without case.")] = False,
    tokenize: Annotated[str, Parameter(help="sacrebleu's tokenizer for BLEU.")] = "13a",
    device: Device = "auto",
    json: Json = False,
) -> None:
    """Measure a run on its test data or on files: loss, perplexity and the scores of its task."""
    from regard.cli.reading import runs_to_measure
    from regard.cli.showing import show_scores
    from regard.evaluate import evaluate as work

    runs = runs_to_measure(run, device, context, set_, data)
    if decode.given or lowercase or tokenize != "13a":
        needs_bleu(runs[0])
    search = decode.over(runs[0].recipe.decode)
    results = work(
        runs, data, decode=search, stride=stride, lowercase=lowercase, tokenize=tokenize, say=note, counting=counting
    )
    emit(results, json, lambda: show_scores(results))


def generate(
    run: Runs,
    /,
    *,
    prompt: Annotated[
        tuple[str, ...],
        repeated("The beginning; may be given several times. Without it, standard input is the prompt."),
    ] = (),
    decode: DecodeOptions = DecodeOptions(),
    seed: Annotated[int, Parameter(help="The same seed draws the same text.")] = 0,
    stop: Annotated[tuple[str, ...], repeated("End where this text appears; may be given several times.")] = (),
    n_best: Annotated[int, Parameter(help="With a beam: so many texts for each prompt.")] = 1,
    log_probabilities: Tokens = False,
    stream: Annotated[bool, flag("Print the text while it is made.")] = False,
    device: Device = "auto",
    json: Json = False,
) -> None:
    """Continue a text with a language model."""
    from regard.cli.making import continued, streamed
    from regard.cli.reading import checked, load_one, needs_language_model, stdin_text
    from regard.cli.showing import show_continuations

    model = load_one(run, device, "--prompt")
    needs_language_model(model)
    settings = within_beam(decode.over(model.recipe.decode), n_best)
    if "" in stop:
        raise UserError("--stop '' is empty: it would end every text at once")
    if stream and (json or log_probabilities or len(prompt) > 1 or settings.beam > 1):
        raise UserError("--stream prints one text while it is made: no beam, no --json, no --log-probabilities")
    prompts = checked(prompt, "--prompt") or [stdin_text()]
    if stream:
        return streamed(model, settings, prompts[0], seed=seed, stop=stop)
    results = continued(model, settings, prompts, seed=seed, stop=stop, best=n_best, tokens=log_probabilities)
    return emit(results, json, lambda: show_continuations(results, model.recipe.text.kind))


def translate(
    run: Runs,
    /,
    *,
    text: Annotated[
        tuple[str, ...],
        repeated("A text to translate; may be given several times. Without it, standard input is read line by line."),
    ] = (),
    decode: TranslateOptions = TranslateOptions(),
    seed: Annotated[int, Parameter(help="With a temperature: the same seed draws the same text.")] = 0,
    n_best: Annotated[int, Parameter(help="With a beam: so many translations for each line.")] = 1,
    log_probabilities: Tokens = False,
    device: Device = "auto",
    json: Json = False,
) -> None:
    """Translate lines from standard input, or given texts, one line each."""
    from regard.cli.making import translated
    from regard.cli.reading import checked, groups, load_one, needs_translator
    from regard.cli.showing import show_translations

    model = load_one(run, device, "--text")
    needs_translator(model)
    settings = within_beam(decode.over(model.recipe.decode), n_best)
    results: list[dict[str, Any]] = []
    for sources in groups(checked(text, "--text")):
        found = translated(
            model, settings, sources, seed=seed, first=len(results), best=n_best, tokens=log_probabilities
        )
        if not json:
            show_translations(found)
        results += found
    emit(results, json, lambda: None)


def classify(
    run: Runs,
    /,
    *,
    text: Annotated[
        tuple[str, ...],
        repeated(
            "A text to classify; may be given several times. Without it, standard input is read line by line; a run "
            "that reads two texts wants both on a line, with a tab between."
        ),
    ] = (),
    second: Annotated[
        tuple[str, ...], repeated("Where a run reads two texts: the second of each --text, in the same order.")
    ] = (),
    device: Device = "auto",
    json: Json = False,
) -> None:
    """Name the label of lines from standard input, or of given texts, with its probability."""
    from regard.cli.making import classified
    from regard.cli.reading import examples, load_one, needs_classifier
    from regard.cli.showing import show_labels

    model = load_one(run, device, "--text")
    needs_classifier(model)
    results: list[dict[str, Any]] = []
    for texts in examples(model, text, second):
        found = classified(model, texts)
        if not json:
            show_labels(found)
        results += found
    emit(results, json, lambda: None)


def tag(
    run: Runs,
    /,
    *,
    text: Annotated[
        tuple[str, ...],
        repeated("A sentence to tag; may be given several times. Without it, standard input is read line by line."),
    ] = (),
    words: Annotated[bool, flag("Blanks separate the words already; else they are cut out of the text.")] = False,
    conllu: Annotated[bool, flag("Print CoNLL-U.")] = False,
    device: Device = "auto",
    json: Json = False,
) -> None:
    """Give each word of lines from standard input, or of given sentences, its tag: "The/DET road/NOUN"."""
    from regard.cli.making import tagged
    from regard.cli.reading import checked, groups, load_one, needs_tagger
    from regard.cli.showing import show_conllu, show_tags
    from regard.text.words import cut, given

    if conllu and json:
        raise UserError("--conllu and --json are two forms of the same: give one of them")
    model = load_one(run, device, "--text")
    needs_tagger(model)
    results: list[dict[str, Any]] = []
    for texts in groups(checked(text, "--text")):
        found = tagged(model, texts, [(given if words else cut)(line) for line in texts])
        if conllu:
            show_conllu(found, model.recipe.data.tags)
        elif not json:
            show_tags(found)
        results += found
    emit(results, json, lambda: None)


def score(
    run: Runs,
    /,
    *,
    text: Annotated[
        tuple[str, ...],
        repeated(
            "The text to score (for a translator: the target); may be given several times. Without it, lines of "
            "standard input; for a translator source and target separated by a tab."
        ),
    ] = (),
    source: Annotated[tuple[str, ...], repeated("For a translator: the source of each text, in the same order.")] = (),
    device: Device = "auto",
    json: Json = False,
) -> None:
    """Say how likely given texts are: the log-probability of each text and of its tokens."""
    from regard.cli.making import scored
    from regard.cli.reading import checked, load_one, needs_writer, stdin_lines, stdin_pairs

    model = load_one(run, device, "--text")
    needs_writer(model)
    texts, sources = checked(text, "--text"), checked(source, "--source")
    if sources and not model.takes_source:
        raise UserError(f"{model.path} is a language model: it reads no --source")
    if not texts and not sources:
        if model.takes_source:
            pairs = stdin_pairs()
            sources, texts = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        else:
            texts = list(stdin_lines())
    if model.takes_source and len(sources) != len(texts):
        raise UserError(f"{len(texts)} texts and {len(sources)} sources: each --text needs its own --source")
    results = scored(model, texts, sources)
    emit(results, json, lambda: [print(f"{r['log_probability']:.4f}\t{r['text']}") for r in results])


def needs_bleu(run: Any) -> None:
    """A run that is measured by what it writes: for others options of decoding and of scoring would change nothing."""
    from regard.objectives import SpanCorruption
    from regard.systems import use_of

    if isinstance(run.recipe.objective, SpanCorruption):
        raise UserError(f"{run.path} restores spans: that is measured without any search, and BLEU is for translators")
    if not run.takes_source:
        raise UserError(f"{run.path} is a {use_of(run.model).name}: it is not decoded, and BLEU is for translators")


def within_beam(settings: Any, n_best: int) -> Any:
    """The settings, if so many hypotheses come out of them."""
    if not 1 <= n_best <= settings.beam:
        raise UserError(f"--n-best {n_best}: give a number from 1 to the width of the beam, --beam {settings.beam}")
    return settings
