"""The state of the source code: `./pilothouse bench house`. It reads files only and takes seconds.

Findings are listed on standard error. The last line is one JSON object; docs/research/benchmarks/source-code.md says
what its keys are.
"""

import argparse
import sys
from typing import Any

from annotation_app.operations import glossary
from annotation_app.operations.runtime.stack import ROOT
from benchmarks.parts.figures import print_figures, print_findings
from benchmarks.parts.house.duplicates import duplicate_runs
from benchmarks.parts.house.structure import (
    contract_exceptions,
    import_cycles,
    large_packages,
    line_counts,
    product_files,
)
from benchmarks.parts.house.unused import unused_public_names

LARGE_PACKAGE = 25
SHORT_FILE = 30
LONG_FILE = 400


def main() -> int:
    argparse.ArgumentParser(description=__doc__).parse_args()
    figures = measure()
    return print_figures("house", figures)


def measure() -> dict[str, Any]:
    """Every figure; what stands behind each is listed on the way."""
    terms = glossary.load(ROOT)
    violations = glossary.violations(ROOT)
    print_findings("retired terms", [f"{v.path}:{v.line} {v.identifier} ({v.word})" for v in violations])
    cycles = import_cycles()
    print_findings("import cycles", [" <-> ".join(cycle) for cycle in cycles])
    packages = large_packages(ROOT, LARGE_PACKAGE)
    lines = line_counts(ROOT)
    product = {path: count for path, count in lines.items() if path in product_files(ROOT)}
    long = [f"{path} {count}" for path, count in lines.items() if count > LONG_FILE]
    print_findings("files over 400 lines", long)
    unused = unused_public_names(ROOT)
    print_findings("unused public names", unused)
    runs = duplicate_runs(ROOT)
    print_findings("duplicate runs", [str(run) for run in runs])
    return {
        "retired_terms_listed": sum(len(term.retired) for term in terms),
        "retired_terms": len(violations),
        "import_cycles": len(cycles),
        "contract_exceptions": contract_exceptions(ROOT),
        "packages_over_25_files": len(packages),
        "packages_over_25_files_names": packages,
        "files_under_30_lines_share": round(sum(c < SHORT_FILE for c in product.values()) / len(product), 3),
        "files_over_400_lines": len(long),
        "unused_public_names": len(unused),
        "duplicate_runs": len(runs),
    }


if __name__ == "__main__":
    sys.exit(main())
