"""Applications, importance and balance without a database: formulas that are monotone and reproducible, files."""

import json
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from annotation_app.design.applications import (
    INDICATORS,
    Indicator,
    IndicatorRule,
    Reading,
    Score,
    ScoringRule,
    score_applications,
)
from annotation_app.design.balance import EVEN, TOLERANCE, WantedShares, balance_of
from annotation_app.design.difficulty import LEVELS
from annotation_app.design.importance import MEASURES, Measures, importance_of
from annotation_app.design.reading_files import readings_csv, readings_read
from benchmarks.parts.factory.design import GOLDEN, design_figures

RULE = ScoringRule()
DAY = date(2026, 6, 1)
DEGREES = st.floats(0, 10)
SHARES = st.sampled_from([(20, 20, 20, 20, 20), (50, 30, 10, 5, 5), (0, 0, 50, 50, 0), (97, 1, 1, 1, 0)])


def reading(indicator: Indicator, value: float, dated: date = DAY, unit: str = "") -> Reading:
    return Reading(indicator, value, unit or RULE.of(indicator).unit, "a survey", dated)


def candidate(**values: float) -> list[Reading]:
    return [reading(each, values[each]) for each in INDICATORS if each in values]


CANDIDATES = st.dictionaries(
    st.sampled_from("abcdef"),
    st.dictionaries(st.sampled_from(INDICATORS), st.floats(0, 1e9), max_size=3).map(lambda of: candidate(**of)),
    min_size=2,
)


def scored(candidates: dict[str, list[Reading]], rule: ScoringRule = RULE) -> dict[str, Score]:
    return {one.name: one for one in score_applications(candidates, rule)}


def test_a_score_is_the_weighed_mean_of_shares_of_the_greatest_value() -> None:
    rule = RULE.model_copy(update={"engagement": IndicatorRule(weight=2, unit="visits per month", scale="log")})
    found = scored(
        {
            "Mail": candidate(coverage=50, engagement=999, penetration=80),
            "Maps": candidate(coverage=25, engagement=9, penetration=40),
        },
        rule,
    )
    assert found["Mail"].score == 1.0
    assert found["Maps"].score == pytest.approx((0.5 + 2 / 3 + 0.5) / 4)


def test_what_is_missing_counts_as_the_median_and_is_told() -> None:
    found = scored(
        {
            "Mail": candidate(coverage=100, penetration=100),
            "Maps": candidate(coverage=50, penetration=20),
            "Docs": candidate(penetration=100),
            "Chat": candidate(),
        }
    )
    docs = found["Docs"]
    assert (docs.score, docs.low, docs.high) == (0.875, 0.5, 1.0)
    assert [(part.indicator, part.state, part.share) for part in docs.parts] == [
        ("coverage", "missing", 0.75),
        ("engagement", "missing", None),
        ("penetration", "counted", 1.0),
    ]
    assert docs.parts[1].weight == 0, "nobody has it"
    assert (found["Chat"].score, found["Chat"].rank) == (None, 4), "nothing is known of it"


def test_the_newest_reading_counts_and_other_units_do_not() -> None:
    old, new = reading("coverage", 90, date(2025, 1, 1)), reading("coverage", 30)
    other = reading("coverage", 7, date(2026, 6, 2), unit="industries")
    found = scored({"Mail": [new, other, old], "Maps": [reading("coverage", 60)], "Docs": [other]})
    assert found["Mail"].parts[0].value == 30
    assert found["Docs"].parts[0].state == "other_unit"
    twice = [new, new._replace(value=40, source="another survey")]
    assert scored({"Mail": twice})["Mail"].parts[0].value == 30, "of one day the lowest"


@given(CANDIDATES, st.randoms(use_true_random=False))
def test_the_order_of_what_is_given_changes_nothing(candidates: dict[str, list[Reading]], random: object) -> None:
    names = list(candidates)
    random.shuffle(names)  # type: ignore[attr-defined]
    assert score_applications({name: candidates[name][::-1] for name in names}, RULE) == score_applications(
        candidates, RULE
    )


@given(CANDIDATES, st.data())
def test_a_higher_reading_never_lowers_the_score_or_the_rank(
    candidates: dict[str, list[Reading]], data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from(sorted(candidates)))
    before = scored(candidates)[name]
    higher = [one._replace(value=one.value * data.draw(st.floats(1, 100))) for one in candidates[name]]
    after = scored({**candidates, name: higher})[name]
    assert (after.score or 0) >= (before.score or 0) - 2e-6, "scores are rounded"
    if all(abs((after.score or 0) - (one.score or 0)) > 1e-5 for one in scored(candidates).values()):
        assert after.rank <= before.rank


def test_figures_are_those_of_the_golden_file() -> None:
    assert design_figures(seed=1) == json.loads(GOLDEN.read_text())


def test_equal_scores_are_in_the_order_of_names() -> None:
    found = score_applications({name: candidate(coverage=1) for name in ("b", "C", "a", "B")}, RULE)
    assert [one.name for one in found] == ["a", "B", "b", "C"]


def test_a_rule_without_any_weight_is_refused() -> None:
    weightless = IndicatorRule(weight=0, unit="%", scale="linear")
    with pytest.raises(ValidationError):
        ScoringRule(coverage=weightless, engagement=weightless, penetration=weightless)


def test_readings_go_to_a_file_and_come_back() -> None:
    rows = [("=Sheets", Reading("coverage", 12.5, "%", "a survey, p. 3", DAY)), ("Mail", None)]
    text = "\n".join(",".join(f'"{cell}"' for cell in row) for row in readings_csv(rows))
    found, faults = readings_read(text.replace('"=Sheets"', "'=Sheets").encode(), latest=DAY)
    assert not faults
    assert [(row.application, row.reading) for row in found] == rows


def test_every_fault_of_a_file_has_its_row_column_and_name() -> None:
    head = "application,indicator,value,unit,source,date\n"
    lines = [
        "Mail,coverage,5,%,a survey,2026-01-01",
        ",coverage,5,%,a survey,2026-01-01",
        "Mail,fame,5,%,a survey,2026-01-01",
        "Mail,coverage,many,%,a survey,2026-01-01",
        "Mail,coverage,-5,%,a survey,2026-01-01",
        "Mail,coverage,inf,%,a survey,2026-01-01",
        "Mail,coverage,5,,a survey,2026-01-01",
        "Mail,coverage,5,%,,2026-01-01",
        "Mail,coverage,5,%,a survey,1/2/2026",
        "Mail,coverage,5,%,a survey,2026-06-02",
        "Mail,coverage,6,%,a survey,2026-01-01",
        "Mail,coverage,5,%,a survey,2026-01-02,more",
        f"Mail,coverage,5,{'x' * 41},a survey,2026-01-02",
    ]
    rows, faults = readings_read((head + "\n".join(lines)).encode(), latest=DAY)
    assert [row.row for row in rows] == [1]
    assert [(fault.row, fault.column, fault.code) for fault in faults] == [
        (2, "application", "empty"),
        (3, "indicator", "unknown"),
        (4, "value", "number"),
        (5, "value", "negative"),
        (6, "value", "number"),
        (7, "unit", "empty"),
        (8, "source", "empty"),
        (9, "date", "day"),
        (10, "date", "future"),
        (11, "", "twice"),
        (12, "", "surplus"),
        (13, "unit", "too_long"),
    ]


@pytest.mark.parametrize("data", [b"\xff\xfe", b"name,value\nMail,1\n", b'application\n"Mail', b""])
def test_what_is_no_file_of_readings_is_told(data: bytes) -> None:
    rows, faults = readings_read(data, latest=DAY)
    assert (rows, [fault.code for fault in faults]) == ((), ["file"])


@given(DEGREES, DEGREES, DEGREES, st.sampled_from(MEASURES), DEGREES)
def test_importance_rises_with_each_measure(a: float, b: float, c: float, name: str, more: float) -> None:
    measures = Measures(frequency=a, benefit=b, transfer=c)
    higher = measures.model_copy(update={name: max(more, getattr(measures, name))})
    assert 0 <= importance_of(measures) <= importance_of(higher) <= 10


def test_importance_weighs_frequency_and_benefit_alike() -> None:
    assert importance_of(Measures(frequency=8, benefit=5, transfer=2)) == 5.6
    assert importance_of(Measures(frequency=10, benefit=10, transfer=10)) == 10


@given(st.lists(st.integers(0, 300), min_size=5, max_size=5), SHARES)
def test_adding_what_is_missing_brings_balance(tasks: list[int], shares: tuple[int, int, int, int, int]) -> None:
    wanted = WantedShares(levels=shares)
    counts: dict[int, int] = {
        level: count if share else 0 for level, count, share in zip(LEVELS, tasks, shares, strict=True)
    }
    found = balance_of(counts, wanted)
    assert all(one.missing >= 0 for one in found)
    after = balance_of({one.level: one.tasks + one.missing for one in found}, wanted)
    total = sum(one.tasks for one in after)
    assert all(one.in_balance and not one.missing for one in after)
    assert all(abs(one.tasks - one.wanted * total) <= TOLERANCE * one.wanted * total + 1e-6 for one in after)


def test_balance_tells_the_least_that_is_missing() -> None:
    found = balance_of({1: 22, 2: 20, 3: 20, 4: 20, 5: 18}, EVEN)
    assert [(one.in_balance, one.missing) for one in found] == [(True, 0)] * 5
    found = balance_of({1: 22, 2: 20, 3: 20, 4: 20, 5: 8}, EVEN)
    assert [one.missing for one in found] == [0, 0, 0, 0, 10]
    assert not found[4].in_balance
    unwanted = balance_of({1: 10, 2: 10, 3: 3}, WantedShares(levels=(50, 50, 0, 0, 0)))
    assert [(one.in_balance, one.missing) for one in unwanted[:3]] == [(True, 0), (True, 0), (False, 0)]


def test_wanted_shares_are_the_whole() -> None:
    with pytest.raises(ValidationError):
        WantedShares(levels=(20, 20, 20, 20, 10))
