"""What a folder of Hugging Face says and our settings do not: kept beside the run, written back where it still holds.

| of | is kept | is written back |
|---|---|---|
| `config.json` | more dropouts, how weights began, what tasks ask for | by the run that was imported |
| `generation_config.json` | all but symbols and banned words, which the tokenizer has | by a run that writes text |
| `tokenizer_config.json` | lengths, sides, templates of chats, more special symbols | with the tokenizer |
| `config_sentence_transformers.json` | all | beside the modules |

A run that was trained on from the imported one has its tokenizer, but one dropout and, it may be, another length; where
it has ways to decode of its own, theirs are left out.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from regard.checkpoint import REPORT, WEIGHTS, Run, read_json, read_origin, read_tensors, write, write_json
from regard.decode.settings import Decode
from regard.errors import UserError
from regard.interop.files.hugging_face import CONFIG, Folder
from regard.interop.files.modules import MORE
from regard.interop.tokens import GENERATION, SETTINGS
from regard.interop.tokens.settings import SEARCH
from regard.interop.tokens.trees import content

TEMPLATE, LENGTH = "chat_template.jinja", "model_max_length"
BEGINNINGS = ("initializer_range", "initializer_factor", "init_std", "task_specific_params")
SPECIAL = ("additional_special_tokens", "extra_special_tokens")
CUTTING = (LENGTH, "padding_side", "truncation_side", "model_input_names", "chat_template", *SPECIAL)
DRAWING = ("do_sample", "temperature", "top_k", "top_p", "min_p", "typical_p", "max_length", "max_new_tokens")
WRITING = (  # what older folders have in config.json
    *(*SEARCH, *DRAWING, "early_stopping", "num_beam_groups", "diversity_penalty", "num_return_sequences"),
    *("forced_bos_token_id", "forced_eos_token_id", "remove_invalid_values", "exponential_decay_length_penalty"),
)
OURS = (  # what the tokenizer of a run says, or nobody needs
    *("bos_token_id", "eos_token_id", "pad_token_id", "decoder_start_token_id", "bad_words_ids"),
    *("transformers_version", "_from_model_config"),
)


def kept(folder: Folder, kind: str) -> dict[str, Any]:
    """What is kept of a folder, by the file that it stands in."""
    config, there = folder.json(CONFIG), (folder.path / GENERATION).is_file()
    asked = folder.json(GENERATION) if there else {name: config[name] for name in WRITING if name in config}
    settings = folder.json(SETTINGS)
    found: dict[str, Any] = {
        CONFIG: {name: value for name, value in config.items() if "drop" in name or name in BEGINNINGS},
        GENERATION: {name: value for name, value in asked.items() if name not in OURS},
        SETTINGS: {name: settings[name] for name in CUTTING if name in settings},
        MORE: folder.json(MORE),
        TEMPLATE: template(folder),
    }
    return {"kind": kind, **{name: part for name, part in found.items() if part or (name == GENERATION and there)}}


def template(folder: Folder) -> str:
    """How the turns of a chat become one text, where that has a file of its own. It is kept, never executed."""
    path = folder.path / TEMPLATE
    try:
        return path.read_text(encoding="utf-8") if path.is_file() else ""
    except (OSError, UnicodeDecodeError):
        raise UserError(f"{path} is damaged: it is no text") from None


@dataclass(frozen=True)
class Kept:
    """What is kept beside a run, as far as it holds for it; `own` where the run is the imported one itself."""

    run: Run
    parts: Mapping[str, Any] = field(default_factory=dict)
    own: bool = False

    @staticmethod
    def of(run: Run) -> "Kept":
        parts = read_origin(run.path, read_tensors(run.path / WEIGHTS)[1])
        return Kept(run, parts, "imported" in read_json(run.path / REPORT))

    def part(self, name: str) -> dict[str, Any]:
        return part if isinstance(part := self.parts.get(name), dict) else {}

    @property
    def kind(self) -> str:
        """The family that the model was of."""
        about = read_json(self.run.path / REPORT).get("imported", {})
        return str(self.parts.get("kind") or about.get("kind", ""))

    @property
    def config(self) -> dict[str, Any]:
        return self.part(CONFIG) if self.own else {}

    @property
    def generation(self) -> dict[str, Any] | None:
        """None where there was no such file, and nothing that would stand in it."""
        if GENERATION not in self.parts or not self.run.model.writes_text:
            return None
        decides = self.run.recipe.decode != Decode()
        return {k: v for k, v in self.part(GENERATION).items() if not (decides and k in (*SEARCH, *DRAWING))}

    def write_beside_tokenizer(self, folder: Path) -> None:
        """Into the folder of an export that has its tokenizer already."""
        more = {name: value for name, value in self.part(SETTINGS).items() if self.own or name != LENGTH}
        more |= {name: self.known(more[name]) for name in SPECIAL if name in more}
        if more:
            write_json(folder / SETTINGS, {**more, **read_json(folder / SETTINGS)})
        if isinstance(text := self.parts.get(TEMPLATE), str):
            write(folder / TEMPLATE, text.encode())

    def known(self, symbols: Any) -> list[Any]:
        """Those symbols that the vocabulary has; others would make it longer."""
        several = symbols if isinstance(symbols, list) else []
        return [each for each in several if self.run.tokenizer.backend.token_to_id(content(each)) is not None]
