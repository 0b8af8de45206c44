"""Docstrings that carry weight say shapes, units and errors."""

import ast
from pathlib import Path

import pytest

from annotation_app.operations.docstrings import ListedObject, gaps, listed_objects, public_objects
from annotation_app.operations.runtime.stack import ROOT

LISTED = 450


def found(source: str) -> list[str]:
    """What the first object of a module lacks."""
    return list(gaps(next(node for _, node in public_objects(ast.parse(source)))))


def test_every_listed_docstring_is_complete() -> None:
    objects = listed_objects(ROOT)
    assert len(objects) > LISTED
    assert [f"{one.path}:{one.line} {one.name}: {one.gaps}" for one in objects if one.gaps] == []


@pytest.mark.parametrize(
    ("source", "lacking"),
    [
        ("def f():\n    pass", ["has no docstring"]),
        ('def f(x: Tensor) -> None:\n    """Do it to `x`."""', ["x is a tensor without a shape"]),
        ('def f(x: Tensor) -> None:\n    """Do it to `x`, [batch, tokens]."""', []),
        ('def f(x: list[Tensor]) -> None:\n    """Do it.\n\n    Args:\n        x: [rows] each.\n    """', []),
        ('def f() -> Tensor:\n    """Make it."""', ["the returned tensor has no shape"]),
        ('def f() -> Tensor:\n    """Make it.\n\n    Returns:\n        [rows].\n    """', []),
        ('def f(wait: float) -> None:\n    """Do it."""', ["wait is a number without a word about it"]),
        ('def f(wait_seconds: float | None) -> None:\n    """Do it."""', []),
        ('def f(waits: Sequence[float]) -> None:\n    """Do it."""', []),
        ('def f() -> None:\n    """Do it."""\n    raise ValueError("no")', ["Raises does not name ValueError"]),
        ('def f() -> None:\n    """Do it. Raises ValueError."""\n    raise ValueError("no")', []),
        ('def f() -> None:\n    """Do it; ValueError."""\n    raise ValueError', ["Raises does not name ValueError"]),
        ('def f() -> None:\n    """Do it."""\n    def g():\n        raise ValueError\n    raise error', []),
        ('def f() -> None:\n    """Do it.\n\n    Args:\n     b: 1\n    """', ["Args names b, which is no parameter"]),
        ('class C:\n    """It."""\n    x: Tensor\n    y_tokens: int', ["x is a tensor without a shape"]),
        ('class C:\n    """It."""\n    y: float', ["y is a number without a word about it"]),
        ('class C:\n    """It."""\n    x: Tensor\n    """Ids, [rows]."""\n    y: float\n    """Seconds."""', []),
        ('class C:\n    """It."""\n    def __init__(self):\n        """Raises OSError."""\n        raise OSError', []),
    ],
)  # fmt: skip
def test_what_a_docstring_lacks_is_named(source: str, lacking: list[str]) -> None:
    assert found(source) == lacking


def test_a_formula_needs_a_source(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/docstrings.toml").write_text(
        '[[area]]\nname = "a"\nfiles = ["a.py"]\n[formulas]\n"a.py" = ["f"]\n'
    )
    for text, lacking in (("It.", ("names no source",)), ("It (Schulman et al. 2017).", ())):
        (tmp_path / "a.py").write_text(f'def f():\n    """{text}"""\n')
        assert listed_objects(tmp_path) == [ListedObject("a.py", "f", 1, lacking)]
