"""Percentiles, the machine's description, progress lines, and the last line with its exit status."""

import json
import os
import platform
import statistics
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

GUARANTEES: Mapping[str, object] = {
    "double_leases": 0,
    "speculation_wrong": 0,
    "lost_machines": 0,
    "double_assignments": 0,
    "ray_node_loss_double_leases": 0,
    "web_failover_lost_steps": 0,
    "web_failover_doubled_steps": 0,
    "osworld_task_ok": True,
    "acknowledged_lost": 0,
    "acts_doubled": 0,
    "refused_but_done": 0,
    "held_twice": 0,
    "commands_without_fate": 0,
    "capacity_leaked": 0,
    "episodes_failed_by_redis": 0,
    "upload_crashes": 0,
    "non_json_in_socket": 0,
    "import_bad_rows_told_share": 1.0,
    "consumer_rows_learned_exactly_share": 1.0,
    "given_cases_passed_share": 1.0,
    "silently_another": 0,
    "parse_exceptions": 0,
    "scope_bypass": 0,
    "foreign_origin_accepted": 0,
    "escape_open": 0,
    "seccomp": 2,
    "open_that_should_not": 0,
    "closed_that_should_not": 0,
    "secrets_in_logs": 0,
    "audit_ran": True,
    "audit_findings": 0,
    "harbor_import_ok": True,
    "harbor_export_oracle_pass_share": 1.0,
    "harbor_noop_pass_share": 0,
    "harbor_runner": "harbor",
    "tasks.infrastructure_apart": True,
    "inspect_ok": True,
    "mcp_ok": True,
    "openenv_ok": True,
    "trl_or_prime_ok": True,
    "verifiers_ok": True,
    "verifier_failures_apart": True,
    "records_of_attempts_share": 1.0,
    "tutorial_ok": True,
    "django_admin_only": 0,
    "api_only": 0,
    "two_installations_start": True,
    "full_disk_told": True,
    "long_episode_branch_reached": True,
    "search_export_ok": True,
    "design_scores_reproducible": True,
    "unique_share": 1.0,
    "minimal_share": 1.0,
    "first_search_hits": 0,
    "closed_book_solved": 0,
    "game_exploits_caught_share": 1.0,
    "hash_chain_equal": True,
    "events_recorded_share": 1.0,
    "events_never_sent": 0,
    "frame_after_act": 0,
    "canaries_found": 0,
    "upload_resumed_bytes_twice": 0,
    "upload_repeated_parts": 0,
    "sealed_texts_found": 0,
    "broken_links": 0,
    "shell_blocks_failed": 0,
    "shell_blocks_unexplained": 0,
    "untranslated_messages": 0,
    "osworld_own_oracle_share": 1.0,
    "osworld_own_noop_share": 0,
}
"""Figures with only one right value; None or "absent": not measured. `BENCHMARK.FIGURE` is a figure of one benchmark
alone, here and below."""
COMPLETE: Mapping[str, str] = {
    "bad_folders_refused": "bad_folders",
    "bad_inputs_named": "bad_inputs",
    "bad_verifiers_refused": "bad_verifiers",
    "probe_catches": "probe_planted",
    "provider_cases_told": "provider_cases",
    "vectors_exact": "vectors",
    "kills_survived": "kills",
    "controls_found": "controls",
    "planted_defects_refused": "planted_defects",
    "oracle_pass": "benchmarks",
    "noop_fail": "benchmarks",
    "exploit_fail": "benchmarks",
    "benchmarks.infrastructure_apart": "benchmarks",
    "grader_replies_right": "grader_replies",
    "listed_docstrings_complete": "listed_docstrings",
    "records_mapped": "records",
    "pages_mapped": "earlier_pages",
}
"""Counts that must equal another count."""
MOST: Mapping[str, float] = {
    "label_growth_kb": 64,
    "anonymous_body_mb_spooled": 1,
    "hashing_parallel": 2,
    "queue_ms_under_sign_in_flood": 500,
    "straggler_wait_share": 0.05,
    "stream_straggler_wait_share": 0.05,
    "keys_per_accepted_task": 2,
    "tutorial_minutes": 30,
    "first_page_p95_ms": 300,
    "long_episode_first_paint_p95_ms": 800,
    "long_episode_desk_p95_ms": 800,
    "long_episode_scrub_p95_ms": 100,
    "search_to_export_clicks": 3,
    "wall_cpu_share_50_sessions": 0.5,
    "log_lines_per_hour_at_rest": 200,
    "parser_us": 60,
    "verifier_ms": 5,
    "probe_s": 20,
    "refused_though_whole_share": 0.01,
    "models.service_overhead_ms": 5,
    "policy.service_overhead_ms": 10,
    "event_time_error_p95_ms": 15,
    "recorder.cpu_share": 0.15,
    "recorder.rss_mb": 300,
    "adr": 40,
    "sentences_over_30_words_share": 0.05,
    "osworld_reset_p50_ms": 200,
}
"""Figures that may not be larger."""
LEAST: Mapping[str, float] = {
    "osworld_own_tasks": 20,
    "osworld_applications": 6,
    "duplicates_recall": 0.95,
    "duplicates_precision": 0.9,
    "paraphrases": 200,
    "scope_tries": 200,
    "origin_tries": 20,
    "escape_tries": 40,
    "routes_x_roles": 500,
    "harbor_folders": 20,
    "bad_folders": 30,
    "bad_inputs": 40,
    "bad_folders_refused_share": 1.0,
    "openenv_share_of_bridge": 0.8,
    "rollout_efficiency": 0.9,
    "keyboard_cases": 60,
    "keyboard_cases_exact": 60,
    "completion_keys_saved_share": 0.5,
    "speculation_compared_real": 200,
    "speculation_planted_found": 20,
    "dialects": 16,
    "families": 20,
    "vectors": 60,
    "providers": 4,
    "provider_cases": 60,
    "probe_planted": 5,
    "games_accepted": 8,
    "game_playouts": 1_000,
    "game_exploits": 5,
    "planted_defects": 10,
    "screenshots": 25,
}
"""Figures that may not be smaller."""


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` (0 to 1) of the values lie, linear between neighbours; one decimal."""
    if len(values) == 1:
        return round(values[0], 1)
    cuts = statistics.quantiles(values, n=100, method="inclusive")
    return round(cuts[min(98, max(0, round(share * 100) - 1))], 1)


def floor_share(part: int, whole: int) -> float:
    """A share from 0 to 1 in four decimals, rounded down, so that 1.0 means all; 0.0 of nothing."""
    return part * 10_000 // whole / 10_000 if whole else 0.0


def describe_machine() -> dict[str, object]:
    """What the figures were taken on."""
    model = next(
        (
            line.split(":", 1)[1].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if "model name" in line
        ),
        platform.machine(),
    )
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "memory_gib": round(memory / 2**30, 1),
        "kernel": platform.release(),
        "python": platform.python_version(),
    }


def print_findings(title: str, findings: Sequence[str]) -> None:
    """Print how many findings there are, and each of them, on standard error."""
    print_progress(f"{title}: {len(findings)}")
    for finding in findings:
        print_progress(f"  {finding}")


def print_progress(text: str) -> None:
    """A progress line; the last line of standard output is kept for the figures."""
    print(f"▸ {text}", file=sys.stderr, flush=True)


def print_figures(benchmark: str, figures: Mapping[str, object]) -> int:
    """Print a benchmark's last line, one JSON object; gives the exit status: 1 where a guarantee is broken."""
    print(json.dumps({"benchmark": benchmark, **figures, "machine": describe_machine()}), flush=True)
    broken = {
        key: f"not {right}"
        for name, right in GUARANTEES.items()
        for key in [name.removeprefix(f"{benchmark}.")]
        if figures.get(key, right) not in (right, None, "absent")
    }
    for name, whole in COMPLETE.items():
        key = name.removeprefix(f"{benchmark}.")
        if key in figures and figures[key] != figures[whole]:
            broken[key] = f"not {figures[whole]} ({whole})"
    for key, value in figures.items():
        most = MOST.get(f"{benchmark}.{key}", MOST.get(key))
        if isinstance(value, int | float) and most is not None and value > most:
            broken[key] = f"more than {most:g}"
        if isinstance(value, int | float) and value < LEAST.get(key, value):
            broken[key] = f"less than {LEAST[key]:g}"
    broken |= {
        key: f"not all {value['total']}"
        for key, value in figures.items()
        if isinstance(value, Mapping) and "total" in value and value.get("passed", value["total"]) != value["total"]
    }
    for key, wrong in broken.items():
        print(f"✗ {key} is {figures[key]}, {wrong}", file=sys.stderr)
    return int(bool(broken))
