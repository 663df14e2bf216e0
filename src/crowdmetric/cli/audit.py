"""``crowdmetric audit``: for whom a model is right, whether one metric will do, and beside what."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdmetric.cli.options import add_model
from crowdmetric.cli.output import about, complain, print_json, print_table
from crowdmetric.cli.parser import Parser, count, whole
from crowdmetric.cli.progress import UnitsLine
from crowdmetric.files import check_folder

if TYPE_CHECKING:
    from crowdmetric.trust.audit_gain import Gain
    from crowdmetric.trust.audit_intervals import Interval
    from crowdmetric.trust.audit_metric_test import MetricTest
    from crowdmetric.trust.audit_table import Measured
    from crowdmetric.trust.audit_whole import Audit
    from crowdmetric.trust.baselines_beside import Baseline

__all__ = ["add", "run"]

_EXAMPLES = """\
examples:
  crowdmetric audit crowd.model answers.csv --users users.csv --baselines --out audit
  crowdmetric audit crowd.model test.csv --training answers.csv

A file of users has a column user, and one for each way to group people (gender, town, ...). Nobody
is judged by answers that were fitted to: without --training, the model is fitted again, with the
same settings, to all folds of COMPARISONS but one, in turn."""

_SHOWN = 3  # people and groups that are printed; --json and --out have all


def add(parser: Parser) -> None:
    """Add the command to the command line's parser."""
    command = parser.command(
        "audit",
        run,
        "say for whom a model is right, the worst first, and whether one metric fits everyone",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_model(command)
    command.add_argument("comparisons", metavar="COMPARISONS", help="file of answers")
    command.add_argument("--users", metavar="USERS", help="file of users and their groups")
    command.add_argument(
        "--training",
        metavar="FILE",
        help="what the model was fitted to, if COMPARISONS are answers it has not seen",
    )
    command.add_argument(
        "--baselines", action="store_true", help="fit simple predictors too, to put beside it"
    )
    command.add_argument(
        "--replicates",
        type=whole,
        default=199,
        metavar="N",
        help="bootstrap behind the tests of the common metric (default 199; 0: no tests)",
    )
    command.add_argument(
        "--folds", type=count, default=5, metavar="N", help="of the cross-validation (default 5)"
    )
    command.add_argument(
        "--seed", type=whole, default=0, metavar="S", help="of folds and bootstrap (default 0)"
    )
    command.add_argument("--out", metavar="DIR", help="folder for the tables, as CSV")
    command.add_argument(
        "--progress",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="progress on standard error (default: if that is a terminal)",
    )
    command.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> None:
    """Read, audit, and say what was found."""
    if arguments.out is not None:
        check_folder(Path(arguments.out))
    from crowdmetric.readers import read_comparisons
    from crowdmetric.storage import load
    from crowdmetric.trust import audit, read_groups

    model = load(arguments.model)
    comparisons = read_comparisons(arguments.comparisons, model.items, model.users)
    training = None
    if arguments.training is not None:
        training = read_comparisons(arguments.training, model.items, model.users)
    groups = read_groups(arguments.users, model.users) if arguments.users is not None else ()
    wanted = sys.stderr.isatty() if arguments.progress is None else arguments.progress
    line = UnitsLine("steps") if wanted else None
    with about(arguments.comparisons):
        try:
            found = audit(
                model,
                comparisons,
                groups,
                training=training,
                with_baselines=arguments.baselines,
                replicates=arguments.replicates,
                folds=arguments.folds,
                seed=arguments.seed,
                progress=line,
            )
        finally:
            if line is not None:
                line.close()
    if arguments.out is not None:
        _write(found, Path(arguments.out))
    if arguments.json:
        print_json(_facts(found))
    else:
        print_table(_rows(found))
        if arguments.out is not None:
            complain(f"the tables are in {arguments.out}")


def _facts(found: Audit) -> dict[str, Any]:
    """Return what scripts want to know."""
    return {
        "comparisons": found.overall.answers,
        "judged_by": found.how,
        "model": _measured(found.overall) | {"gap": found.gap},
        "people": [_measured(one) for one in found.people],
        "groups": {
            column: [_measured(one) for one in measured]
            for column, measured in found.groups.items()
        },
        "common_metric": [_test(test, found.gains) for test in found.tests],
        "untested": found.untested,
        "baselines": [_measured(one.measured) | {"gap": one.gap} for one in found.baselines],
    }


def _measured(one: Measured) -> dict[str, Any]:
    """Return one row of a table."""
    facts: dict[str, Any] = {"name": one.name, "people": one.people, "answers": one.answers}
    return facts | _interval("accuracy", one.accuracy) | _interval("log_loss", one.log_loss)


def _test(test: MetricTest, gained: Sequence[Gain]) -> dict[str, Any]:
    """Return what is known about one way to group people."""
    facts: dict[str, Any] = {
        "by": test.column,
        "groups": test.groups,
        "p_value": test.p_value,
        "reason_to_doubt": test.reason_to_doubt,
        "statistic": test.statistic,
        "expected": test.expected,
        "replicates": test.replicates,
    }
    gain = next((one for one in gained if one.column == test.column), None)
    if gain is not None:
        facts |= _interval("accuracy_gain", gain.accuracy)
        facts |= _interval("log_loss_gain", gain.log_loss)
    return facts


def _interval(name: str, interval: Interval | None) -> dict[str, float | None]:
    """Return a number and its ends under names of their own."""
    value, low, high = (None, None, None) if interval is None else interval
    return {name: value, f"{name}_low": low, f"{name}_high": high}


def _rows(found: Audit) -> list[tuple[str, str]]:
    """Return what people want to know."""
    rows = [
        ("answers", f"{found.overall.answers}: {found.how}"),
        ("model", f"{_said(found.overall)}; gap {found.gap:.1e}"),
    ]
    rows += [(one.measured.name, _beside(one)) for one in found.baselines]  # type: ignore[misc]
    rows += [("worst person", f"{one.name}: {_said(one)}") for one in found.people[:_SHOWN]]
    if len(found.people) > 1:
        rows.append(("clearly worse", _clearly_worse(found)))
    for column, measured in found.groups.items():
        rows += [(f"worst {column}", f"{one.name}: {_said(one)}") for one in measured[:_SHOWN]]
    rows += [(f"one metric? {test.column}", _verdict(test, found.gains)) for test in found.tests]
    if found.untested is not None:
        rows.append(("one metric?", f"not tested: {found.untested}"))
    return rows


def _clearly_worse(found: Audit) -> str:
    """Say how many people are predicted worse than the average, not only by chance."""
    average, count = found.overall.accuracy.value, len(found.people)
    below = sum(one.accuracy.high < average for one in found.people)
    return (
        f"{below} of {count} people, whose intervals end below the {average:.1%} "
        f"({count / 40:.1f} by chance)"
    )


def _said(one: Measured) -> str:
    """Say how well some answers are predicted."""
    value, low, high = one.accuracy
    whose = f"{one.answers} answers" + (f" of {one.people} people" if one.people > 1 else "")
    text = f"{value:.1%} predicted ({low:.1%} to {high:.1%}), {whose}"
    return text if one.log_loss is None else f"{text}, log-loss {one.log_loss.value:.4f}"


def _beside(baseline: Baseline) -> str:
    """Say how well a baseline predicts, and how far it is from the best of its kind."""
    value, low, high = baseline.measured.accuracy
    text = f"{value:.1%} predicted ({low:.1%} to {high:.1%})"
    if baseline.measured.log_loss is not None:
        text += f", log-loss {baseline.measured.log_loss.value:.4f}"
    return f"{text}; gap {baseline.gap:.1e}"


def _verdict(test: MetricTest, gained: Sequence[Gain]) -> str:
    """Say what one way to group people says about the common metric."""
    doubt = "REASON TO DOUBT" if test.reason_to_doubt else "no reason to doubt"
    text = f"{doubt} that one fits all {test.groups} (p = {test.p_value:.3g})"
    gain = next((one for one in gained if one.column == test.column), None)
    if gain is None:
        return text
    return (
        f"{text}; metrics of their own predict {100 * gain.accuracy.value:+.1f} points "
        f"({100 * gain.accuracy.low:+.1f} to {100 * gain.accuracy.high:+.1f}) of the answers"
    )


def _write(found: Audit, folder: Path) -> None:
    """Write a table for each part."""
    from crowdmetric.readers import write_table

    groups = [
        {"by": column} | _measured(one)
        for column, measured in found.groups.items()
        for one in measured
    ]
    tables = {
        "people": [_measured(one) for one in found.people],
        "groups": groups,
        "common_metric": [_test(test, found.gains) for test in found.tests],
        "baselines": [_measured(found.overall) | {"gap": found.gap}]
        + [_measured(one.measured) | {"gap": one.gap} for one in found.baselines],
    }
    for name, rows in tables.items():
        if rows:
            columns = {key: [row[key] for row in rows] for key in rows[0]}
            write_table(folder / f"{name}.csv", columns)
