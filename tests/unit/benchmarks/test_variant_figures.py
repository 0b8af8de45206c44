"""A scripted model that invents in half of its replies gets nothing of it into a variant."""

import random

from benchmarks.parts.recorder.variants import measure_variants


def test_no_variant_changes_a_fact_or_holds_what_nobody_gave() -> None:
    figures = measure_variants(random.Random(1), 30)
    assert (figures["variant_facts_kept"], figures["variant_invented_sentences"]) == (1.0, 0)
    assert figures["variants_enriched"] == figures["variant_thoughts"] == 30
    assert figures["variants_diversified"] > 15
