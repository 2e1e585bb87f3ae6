"""Files of students: the blank one, broken ones, and those that would harm others."""

import ast
from pathlib import Path

import pytest

from regard.errors import UserError
from regard.exercises import checking, files
from regard.exercises.checking import Checked, check
from regard.exercises.collecting import Answer, collect, instead, left_out
from regard.exercises.files import begin, belongs, blank, likely
from regard.exercises.tasks import EXERCISES, exercise

RIGHT = "import torch\ndef softmax(scores):\n    p = torch.exp(scores - scores.amax(-1, keepdim=True))\n"
RIGHT += "    return p / p.sum(-1, keepdim=True)\n"
BODY = "import torch\ndef softmax(scores):\n    {}\n"
BROKEN = {
    "syntax": ("def softmax(scores:\n", "not Python", "is no Python: '(' was never closed: 'def softmax(scores:'"),
    "indented": ("def softmax(scores):\nreturn 1\n", "not Python", "line 2 is no Python: expected an indented block"),
    "long-line": (f"x = ({'1 + ' * 50}\n", "not Python", "1 + 1 +..."),
    "no-line": ("def f():\n    if 1:\n\n", "not Python", "expected an indented block after 'if' statement on line 2"),
    "empty": ("", "no function", "there is no function softmax; keep its name"),
    "renamed": (
        "def softmaxx(scores):\n    pass\n",
        "no function",
        "no function softmax; rename your softmaxx to that",
    ),
    "others": ("def mine(scores):\n    pass\n", "no function", "there is no function softmax; keep its name"),
    "no-function": ("softmax = 3\n", "no function", "there is no function softmax"),
    "at-once": ("import torch\n1 / 0\n", "stops", "the file stops in line 2: ZeroDivisionError: division by zero"),
    "no-module": ("import nothing_there\n", "stops", "in line 1: ModuleNotFoundError: No module named 'nothing_there'"),
    "inside": (
        BODY.format("x = 0\n    return scores.nothing"),
        "stops",
        "softmax([1 2]) stops in line 4: AttributeError: ",
    ),
    "many-lines": (BODY.format("raise ValueError('one\\n' * 999)"), "stops", "in line 3: ValueError: one one one"),
    "none": (BODY.format("pass"), "another result", "softmax([1 2]): it returns None; is a `return` missing?"),
    "arguments": ("def softmax():\n    pass\n", "stops", "softmax([1 2]) stops: TypeError: softmax() takes 0"),
    "exit": ("import sys\nsys.exit(3)\n", "stops", "the file stops in line 2: SystemExit: 3"),
    "ctrl-c": (BODY.format("raise KeyboardInterrupt"), "stops", "stops in line 3: KeyboardInterrupt"),
    "deep": (BODY.format("return softmax(scores)"), "stops", "RecursionError: maximum recursion depth exceeded"),
    "asks": (BODY.format("return input()"), "stops", "stops in line 3: "),
    "memory": (BODY.format("return torch.ones(10**13)"), "stops", "stops in line 3: RuntimeError: "),
    "killed": ("import os\nos.kill(os.getpid(), 11)\n", "ends Python", "before it is checked (signal 11)"),
    "left": (BODY.format("import os; os._exit(0)"), "ends Python", "before it is checked (exit code 0)"),
    "library": (f"from regard.attention import attend\n{RIGHT}", "imports regard", "line 1 imports regard"),
    "ready-made": (
        BODY.format("return scores.softmax(-1)"),
        "ready-made",
        "line 3 uses softmax, which is the exercise",
    ),
    "named-library": (
        BODY.format("import importlib as i; return i.import_module('regard.attention.attend').softmax_or_zero(scores)"),
        "imports regard",
        "line 3 imports regard",
    ),
    "named-function": (
        BODY.format("return getattr(torch, 'softmax')(scores, -1)"),
        "ready-made",
        "line 3 uses softmax, which is the exercise",
    ),
    "star": (f"from torch.nn.functional import *\n{RIGHT}", "ready-made", "line 1 imports all of torch: name what you"),
    "beside": ("from helper import attend\n", "stops", "ImportError: regard has the answer: write it yourself"),
    "not-there": (
        BODY.format("return scores.bool() @ scores.bool().mT"),
        "stops",
        "NotImplementedError: ",
    ),
    "sparse": (BODY.format("return scores.to_sparse()"), "not checked", "it cannot be checked: NotImplementedError: "),
    "patched": (f"import torch\ntorch.isclose = None\n{RIGHT}", "not checked", "TypeError: 'NoneType' object is not"),
    "in-place": (BODY.format("scores -= 1; return scores"), "changes its input", "changes scores; work on a copy"),
    "loop": (BODY.format("while True: pass"), "no end", "it takes more than 2 seconds"),
    "fork": (BODY.format("import os\n    if os.fork(): os._exit(0)\n    while True: pass"), "no end", "more than 2"),
}


def written(folder: Path, text: str | bytes, name: str = "02_softmax.py") -> Answer:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return Answer(path, belongs(path))


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Checked]:
    """All of them, one after another, with a right one between any two."""
    folder = tmp_path_factory.mktemp("students")
    files = [written(folder / name, text) for name, (text, _, _) in BROKEN.items()]
    files.append(written(folder / "bytes", b"\xff\xfe\x00def"))
    (folder / "beside" / "helper.py").write_text("from regard.attention.attend import attend\n")
    right = written(folder / "right", f"print('noise')\n{RIGHT}")
    both = [each for file in files for each in (file, right)]
    checked = list(check(both, seconds=2))
    assert all(each.passed for each in checked[1::2]), "a broken file has harmed the one after it"
    return {each.answer.student: each for each in checked[::2]}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_one_clear_line(name: str, broken: dict[str, Checked]) -> None:
    _, mistake, text = BROKEN[name]
    found = broken[name].findings[0]
    assert found.mistake == mistake and text in found.text
    assert "\n" not in found.text and len(found.text) < 300 and "Traceback" not in found.text


def test_bytes_that_are_no_text(broken: dict[str, Checked]) -> None:
    assert broken["bytes"].findings[0].text == "the file is no text in UTF-8"


def test_a_file_that_changes_torch_for_all_changes_it_for_itself(tmp_path: Path) -> None:
    one = written(tmp_path / "one", f"import torch\ntorch.exp = None\ntorch.set_default_dtype(torch.float64)\n{RIGHT}")
    two = written(tmp_path / "two", RIGHT)
    assert [each.passed for each in check([one, two])] == [False, True]


def test_files_beside_it_may_help_and_more_digits_do_no_harm(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(RIGHT)
    text = "import torch\nfrom mine import softmax\ntorch.set_default_dtype(torch.float64)\n"
    (checked,) = check([written(tmp_path, text)])
    assert checked.findings == []


@pytest.mark.parametrize("task", EXERCISES.values(), ids=lambda task: task.name)
def test_the_blank_file_runs_and_says_how_it_is_checked(task, tmp_path: Path) -> None:
    path = begin(task, tmp_path)
    text = path.read_text()
    assert path.name == task.file and text == blank(task)
    assert f"regard exercise check {task.file}" in text and "raise NotImplementedError" in text
    assert all(each in text for each in (*task.lectures, *task.without, task.about))
    assert max(map(len, text.splitlines())) <= 120
    names: dict = {}
    exec(compile(text, str(path), "exec"), names)
    assert names[task.name].__doc__ == task.blank.__doc__
    used = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
    assert used <= {*names, *dir(__builtins__), *__builtins__}, "a name that the file does not have"


def test_a_file_under_another_name_is_known_by_its_function(tmp_path: Path) -> None:
    assert written(tmp_path, RIGHT, "mine.py").exercise is exercise("softmax")
    assert written(tmp_path, "broken(", "3_x.py").exercise is exercise("3")
    for text in ("x = 1\n", "broken(", f"{RIGHT}def bpe():\n    pass\n"):
        with pytest.raises(UserError, match="to which exercise is it"):
            written(tmp_path, text, "mine.py")


def test_answers_are_found_by_file_folder_number_and_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("anna/02_softmax.py", "anna/03_x.py", "ben/02_softmax.py", "ben/99_y.py", "ben/notes.txt"):
        written_file = tmp_path / name
        written_file.parent.mkdir(exist_ok=True)
        written_file.write_text("")
    monkeypatch.chdir(tmp_path)

    def found(*words: str) -> list[str]:
        return [f"{each.student}/{each.file.name}" for each in collect(words)]

    assert found("anna") == ["anna/02_softmax.py", "anna/03_x.py"]
    assert found("anna", "ben", "softmax") == ["anna/02_softmax.py", "ben/02_softmax.py"]
    assert found("anna", "ben", "3") == ["anna/03_x.py", "ben/03_scaled_dot_product.py"], "missing ones are named too"
    assert len(found("ben", "all")) == len(found("ben", "3", "all", "3")) == len(EXERCISES)
    assert found("anna/03_x.py") == ["anna/03_x.py"]
    monkeypatch.chdir(tmp_path / "ben")
    assert found() == found(".") == ["ben/02_softmax.py"]
    assert found("../anna/03_x.py", "2") == ["anna/03_x.py", "ben/02_softmax.py"]
    with pytest.raises(UserError, match="no file, folder or exercise 'softmx'; did you mean 'softmax'"):
        collect(["softmx"])
    with pytest.raises(UserError, match=r"no file or folder anna/04_x\.py$"):
        collect(["anna/04_x.py"])
    with pytest.raises(UserError, match=r"no answers in \.\.; there are some in \.\./anna: give .*, as in \.\./\*/$"):
        collect([".."])
    (tmp_path / "none").mkdir()
    with pytest.raises(UserError, match=r"no answers in .*none; 'regard exercise start 1' begins one"):
        collect([str(tmp_path / "none")])


def test_exercises_of_a_student_go_by_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun(tmp_path, "ben/03_x.py", "ben/2_softmax.py", "anna/10_x.py", "anna/9_x.py")
    monkeypatch.chdir(tmp_path)

    def found(*words: str) -> list[tuple[str, int]]:
        return [(each.student, each.exercise.number) for each in collect(words)]

    assert found("ben", "anna") == [("ben", 2), ("ben", 3), ("anna", 9), ("anna", 10)]
    assert found("ben", "5", "2", "3") == [("ben", 2), ("ben", 3), ("ben", 5)], "those that are missing too"
    assert found("ben/03_x.py", "anna", "ben/2_softmax.py")[:2] == [("ben", 2), ("ben", 3)]


def test_a_folder_that_is_missing_is_called_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "class").mkdir()
    monkeypatch.chdir(tmp_path)
    for words, said in [
        (("klass", "3"), "no folder klass; did you mean 'class'?"),
        (("klass",), "no folder klass; did you mean 'class'?"),
        (("2", "students"), "no folder students"),
        (("all", "students"), "no folder students"),
        (("2", "softmx"), "no file, folder or exercise 'softmx'; did you mean 'softmax'?"),
    ]:
        with pytest.raises(UserError) as error:
            collect(words)
        assert str(error.value) == said
    with pytest.raises(UserError, match=r"^no file, folder or exercise 'students'; known: look_up, softmax, "):
        collect(["students"])


def begun(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("")


def test_students_are_told_apart_by_as_much_of_the_path_as_it_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun(tmp_path, "a/hw/02_x.py", "b/hw/02_x.py", "c/02_x.py", "one/a/hw/02_x.py")
    monkeypatch.chdir(tmp_path)

    def students(*words: str) -> list[str]:
        return [each.student for each in collect(words)]

    assert students("a/hw", "c") == ["hw", "c"]
    assert students("a/hw", "b/hw", "2") == ["a/hw", "b/hw"]
    assert students("a/hw/02_x.py", "b/hw", "c") == ["a/hw", "b/hw", f"{tmp_path.name}/c"]
    assert students("a/hw", "one/a/hw", "3") == [f"{tmp_path.name}/a/hw", "one/a/hw"]
    assert students("c", "./c") == ["c"], "the same folder is the same student"
    assert students("/", "2") == ["/"]


def test_folders_of_which_nothing_is_checked_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun(tmp_path, "anna/02_x.py", "ben/softmax.py", "class/eve/02_x.py", "none/x.txt")
    monkeypatch.chdir(tmp_path)
    assert left_out(["anna", "ben", "class", "none"]) == [
        "no answers in ben; is ben/softmax.py one? Name it 02_softmax.py",
        "no answers in class; there are some in class/eve: give such folders, as in class/*/",
        "no answers in none",
    ]
    assert left_out(["anna", "ben", "2"]) == left_out(["anna/02_x.py"]) == [], "there is a row for each"
    for words in (["class"], ["class", "2"], ["class", "softmax", "all"]):
        with pytest.raises(UserError, match=r"^no answers in class; there are some in class/eve: give such folders, "):
            collect(words)
    with pytest.raises(UserError, match=r"^no answers in ben; is ben/softmax\.py one\? Name it 02_softmax\.py$"):
        collect(["ben"])
    assert len(collect(["anna", "class", "2"])) == 2, "a row for each student, whatever lies deeper"


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("softmax.py", "", "; is it softmax.py? Name it 02_softmax.py"),
        ("02-softmax.py", "", "; is it 02-softmax.py? Name it 02_softmax.py"),
        ("Softmax 2.PY", "", "; is it Softmax 2.PY? Name it 02_softmax.py"),
        ("02_softmax.pdf", "", ""),
        ("softmax.txt", RIGHT, ""),
        ("o2_sofmax.py", "", "; is it o2_sofmax.py? Name it 02_softmax.py"),
        ("solution.py", RIGHT, "; is it solution.py? Name it 02_softmax.py"),
        ("deeper/02_softmax.py", RIGHT, "; is it ben/deeper/02_softmax.py? Give that folder"),
        ("deeper/03_x.py", RIGHT, ""),
        ("solution.py", "nonsense(", ""),
        ("03_x.py", RIGHT, ""),
        ("softmax.py", "def bpe():\n    pass\n", ""),
        ("softmaximum.py", "", ""),
    ],
)
def test_a_missing_file_may_be_there_under_another_name(
    name: str, text: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun(tmp_path, "anna/02_softmax.py", f"ben/{name}")
    (tmp_path / "ben" / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    *_, checked = check(collect(["anna", "ben", "2"]))
    assert [each.text for each in checked.findings] == [f"there is no ben/02_softmax.py{said}"]


@pytest.mark.parametrize(
    ("name", "functions", "meant"),
    [
        ("multi_head_attention.py", "", "multi_head"),
        ("multi_head_attention.py", "attention", "attention"),
        ("multi_head_attention.py", "attention multi_head", "multi_head attention"),
        ("attention.py", "softmax attention", "attention"),
        ("homework.py", "softmax attention other", "softmax attention"),
        ("scaled-dot-product attention.py", "other", "scaled_dot_product"),
        ("lookup.py", "", "look_up"),
        ("subpedal.py", "", ""),
    ],
)
def test_a_file_is_for_the_function_in_it_before_what_its_name_says(
    name: str, functions: str, meant: str, tmp_path: Path
) -> None:
    file = tmp_path / name
    file.write_text("".join(f"def {function}():\n    pass\n" for function in functions.split()))
    assert " ".join(each.name for each in likely(file)) == meant
    if meant:
        with pytest.raises(UserError, match=rf"Name it \d\d_{meant.split()[0]}\.py$"):
            collect([str(tmp_path)])


def test_each_file_of_a_folder_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def defined(path: Path) -> set[str]:
        read.append(path.name)
        return set()

    monkeypatch.setattr(files, "defined", defined)
    begun(tmp_path, "02_softmax.py", "mine.py", "other.py", "notes.txt")
    assert len(list(map(instead, collect([str(tmp_path), "all"])))) == len(EXERCISES)
    assert read == ["mine.py", "other.py"]


def test_a_child_that_has_ended_is_no_mistake_of_a_student(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "CHILD", ("false",))
    with pytest.raises(RuntimeError, match="has ended"):
        list(check([written(tmp_path, RIGHT)]))


def test_of_several_files_to_one_exercise_that_of_its_name_counts_and_the_others_are_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("anna").mkdir()
    for name in ("02_old.py", "02_softmax.py", "03_new.py", "03_old.py"):
        (Path("anna") / name).write_text("")
    assert [each.file.name for each in collect(["anna"])] == ["02_softmax.py", "03_new.py"]
    assert left_out(["anna"]) == [
        "anna/02_old.py is passed over: 02_softmax.py is to the same exercise",
        "anna/03_old.py is passed over: 03_new.py is to the same exercise",
    ]
    assert left_out(["anna", "2"]) == ["anna/02_old.py is passed over: 02_softmax.py is to the same exercise"]


def test_a_file_that_is_named_beside_its_folder_is_there_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("anna").mkdir()
    for name in ("02_old.py", "02_softmax.py"):
        (Path("anna") / name).write_text("")
    assert [each.file.name for each in collect(["anna", "anna/02_softmax.py"])] == ["02_softmax.py"]
    assert [each.file.name for each in collect(["anna", "anna/02_old.py"])] == ["02_old.py", "02_softmax.py"]
    assert left_out(["anna", "anna/02_old.py"]) == []
