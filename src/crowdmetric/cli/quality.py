"""``crowdmetric quality``: how good answers are: ceiling, consistency, side, who stands out."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from crowdmetric.cli import choices
from crowdmetric.cli.options import refuse_input
from crowdmetric.cli.output import about, print_json, print_table
from crowdmetric.cli.parser import Parser
from crowdmetric.errors import DataError, SettingError

if TYPE_CHECKING:
    from crowdmetric.comparisons import Comparisons
    from crowdmetric.trust.answers_ceiling import Ceiling
    from crowdmetric.trust.answers_quality import Quality

__all__ = ["add", "run"]

_EXAMPLE = """\
example:
  crowdmetric quality answers.csv --items items.csv

Questions that were asked again, the same or the other way round, tell which accuracy the best
predictor could reach (the ceiling). With --items, a model also says who is predicted from all
other answers, and what the side on which an item is shown does beyond taste. Whoever stands out is
named with the reason, and not left out: that is for you to decide."""

_NAMED = 12  # people that are printed at most; --json has them all


def add(parser: Parser) -> None:
    """Add the command to the command line's parser."""
    command = parser.command(
        "quality",
        run,
        "tell how good answers are: noise ceiling, consistency, side bias, suspicious people",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("comparisons", metavar="COMPARISONS", help="file of answers")
    command.add_argument(
        "--items", metavar="ITEMS", help="file of features (default: none, so no model either)"
    )
    command.add_argument(
        "--features",
        choices=choices.FEATURES,
        default="standardize",
        help="what is done to the features first (default: %(default)s)",
    )
    command.add_argument(
        "--out",
        metavar="FILE",
        help="write the same answers, each weighed by how consistent its person is, to be given to "
        "crowdmetric fit (needs --items)",
    )
    command.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> None:
    """Read, look, and say what was found."""
    from crowdmetric.readers import check_table, read_comparisons, read_items
    from crowdmetric.trust.answers_quality import quality

    if arguments.out is not None:
        if arguments.items is None:
            raise SettingError("--out needs a model to judge people by: give --items too")
        refuse_input(arguments.out, arguments.comparisons, arguments.items)
        check_table(arguments.out)
    items = None if arguments.items is None else read_items(arguments.items)
    comparisons = read_comparisons(arguments.comparisons, items)
    with about(arguments.comparisons):
        found = quality(
            comparisons, items, features=arguments.features, progress=sys.stderr.isatty()
        )
    if arguments.out is not None:
        with about(arguments.comparisons):
            _write(found, comparisons, arguments.out)
    if arguments.json:
        print_json(_facts(found, comparisons))
    else:
        print_table(_rows(found, comparisons))


def _write(found: Quality, comparisons: Comparisons, path: str) -> None:
    """Write the answers with weights."""
    import numpy as np

    from crowdmetric.readers import write_table
    from crowdmetric.trust.answers_consistency import down_weighted

    if found.fitted is None:
        raise DataError(f"there are no weights to write, with {found.notes[-1]}")
    weighed = down_weighted(comparisons, found.fitted.consistency)
    users, items = weighed.users, weighed.item_ids
    columns: dict[str, Any] = {
        "user": [users[code] for code in weighed.user.tolist()],
        "left": [items[code] for code in weighed.left.tolist()],
        "right": [items[code] for code in weighed.right.tolist()],
        "response": np.array(["left", "tie", "right"])[weighed.response + 1],
        "weight": weighed.weight,
    }
    if weighed.time is not None:
        columns["time"] = weighed.time
    write_table(path, columns)


def _facts(found: Quality, comparisons: Comparisons) -> dict[str, Any]:
    """Return what scripts want to know."""
    left, low, high = found.lean.crowd
    fitted = found.fitted
    return {
        "comparisons": len(comparisons),
        "users": len(found.users),
        "ceiling": _ceiling(found.ceiling),
        "ceiling_with_side": _ceiling(found.ceiling_with_side),
        "left": {"share": left, "low": low, "high": high} if found.lean.known else None,
        "left_at_toss_up": None if fitted is None or fitted.side is None else fitted.side.left,
        "accuracy": None if fitted is None else fitted.accuracy,
        "suspicious": [{"user": one.user, "reasons": one.reasons} for one in found.suspicious],
        "notes": found.notes,
        "people": _people(found),
    }


def _ceiling(ceiling: Ceiling | None) -> dict[str, float] | None:
    """Return the numbers of a ceiling."""
    return None if ceiling is None else dict(vars(ceiling))


def _people(found: Quality) -> list[dict[str, Any]]:
    """Return a record for each person."""
    lean, asked = found.lean, found.repeats
    columns: dict[str, list[Any]] = {
        "user": list(found.users),
        "answers_left_or_right": lean.answered.tolist(),
        "ties": lean.ties.tolist(),
        "left": lean.left.tolist(),
        "left_low": lean.low.tolist(),
        "left_high": lean.high.tolist(),
        "repeated_questions": asked.questions.tolist(),
        "agreement": asked.agreement.tolist(),
        "ceiling": found.person_ceilings.tolist(),
    }
    if found.fitted is not None:
        judged = found.fitted.consistency
        columns |= {
            "accuracy": judged.accuracy.tolist(),
            "consistency": judged.share.tolist(),
            "consistency_low": judged.low.tolist(),
            "consistency_high": judged.high.tolist(),
        }
        if found.fitted.side is not None:
            columns["left_at_toss_up"] = found.fitted.side.left_of.tolist()
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _rows(found: Quality, comparisons: Comparisons) -> list[tuple[str, str]]:
    """Return what people want to know."""
    ties = int((comparisons.response == 0).sum())
    tied = f", {ties / len(comparisons):.1%} of them ties" if ties else ""
    rows = [("answers", f"{len(comparisons)} of {len(found.users)} people{tied}")]
    if found.ceiling is not None:
        one = found.ceiling
        rows.append(("ceiling", f"{one}: the best that any prediction can do"))
        bounds = f"between {one.at_least:.1%} and {one.at_most:.1%}"
        rows.append(("", f"(an estimate; {bounds} whatever the preferences are like)"))
    if found.ceiling_with_side is not None:
        rows.append(("with side", f"{found.ceiling_with_side}, if the side is used too"))
    rows += _about_the_side(found)
    rows += _about_consistency(found)
    named = [(str(one.user), "; ".join(one.reasons)) for one in found.suspicious]
    rows.append(("suspicious", f"{len(named) or 'none'} of {len(found.users)} people"))
    rows += [("", f"{name}: {why}") for name, why in named[:_NAMED]]
    if len(named) > _NAMED:
        rows.append(("", f"... and {len(named) - _NAMED} more; --json has them all"))
    return rows + [("note", text) for text in found.notes]


def _about_the_side(found: Quality) -> list[tuple[str, str]]:
    """Say what the side does."""
    if not found.lean.known:
        return []
    left, low, high = found.lean.crowd
    rows = [("side", f"{left:.1%} of the answers are 'left' ({low:.1%} to {high:.1%})")]
    if found.fitted is not None and found.fitted.side is not None:
        side = found.fitted.side
        proof = f"(fit within {side.certificate.gap:.0e} of the best)"
        rows.append(("", f"{side.left:.1%} where a person has no preference {proof}"))
    return rows


def _about_consistency(found: Quality) -> list[tuple[str, str]]:
    """Say how consistently people answer, where a model has judged it."""
    import numpy as np

    rows = []
    asked = found.repeats.agreement[found.repeats.questions > 0]
    if len(asked):
        low, middle, high = np.quantile(asked, [0.1, 0.5, 0.9])
        rows.append(
            (
                "agreement",
                f"the median person gives the same answer again {middle:.0%} of the time (80% of "
                f"people: {low:.0%} to {high:.0%})",
            )
        )
    if found.fitted is not None:
        low, middle, high = np.quantile(found.fitted.consistency.share, [0.1, 0.5, 0.9])
        rows.append(("accuracy", f"{found.fitted.accuracy:.1%} of answers left out are predicted"))
        rows.append(
            (
                "consistency",
                f"the median person follows the model in {middle:.0%} of answers, else a coin "
                f"(80% of people: {low:.0%} to {high:.0%})",
            )
        )
    return rows
