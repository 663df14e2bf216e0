"""``crowdmetric show``: what matters to people, according to a model."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Hashable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdmetric.cli.options import NO_SUCH_USER, add_model, add_new_items, new_items
from crowdmetric.cli.output import about, complain, print_json, print_table
from crowdmetric.cli.parser import Parser
from crowdmetric.files import new_folder

if TYPE_CHECKING:
    from crowdmetric.checks import Floats
    from crowdmetric.model import Model

__all__ = ["add", "run"]

_MOST_FEATURES = 20  # listed for people; --json has all
_MOST_PAIRS = 3  # of each sign, for people
_MOST_PAIRS_KEPT = 100
_LEAST_PAIR = 0.01  # share below which a pair is not worth a line
_MOST_NAMED = 5  # users
_OUTSIDE = 1e-3  # share of a point outside range(M) below which it is not worth a sentence
_BAR = 30  # letters


def add(parser: Parser) -> None:
    """Add the command to the command line's parser."""
    command = parser.command(
        "show", run, "show what matters to people: features, pairs of them, and pictures"
    )
    add_model(command)
    add_new_items(command)
    command.add_argument(
        "--user", metavar="U", help="whose metric to show, where each user has one of their own"
    )
    command.add_argument(
        "--out", metavar="DIR", help="folder for metric.png, map.png and spectrum.png"
    )
    command.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> None:
    """Read the model, and say what its metric measures."""
    from crowdmetric.comparisons import Items
    from crowdmetric.model.lookup import aligned_features
    from crowdmetric.storage import load

    model = load(arguments.model)
    user = _user(arguments, model)
    items = new_items(arguments, model)
    if items is not None:
        names = model.items.names
        model = replace(model, items=Items(items.ids, aligned_features(items, names), names))
    facts = _facts(model, user)
    facts["pictures"] = [] if arguments.out is None else _draw(model, user, Path(arguments.out))
    if arguments.json:
        print_json(facts)
        return
    for note in model.notes:
        complain(f"note: {note}")
    print_table(_summary(facts))
    _print_features(facts)
    _print_pairs(facts)


def _user(arguments: argparse.Namespace, model: Model) -> Hashable | None:
    """Return whose metric to show; None where there is one for all."""
    from crowdmetric.errors import SettingError

    if arguments.user is not None:
        with about(arguments.model):
            return model.known_users.find(arguments.user, NO_SUCH_USER)
    if model.metric.ndim == 3:
        raise SettingError(
            f"{arguments.model}: each user of this model has a metric of their own; name one of "
            f"them, for example with --user {model.users[0]}"
        )
    return None


def _facts(model: Model, user: Hashable | None) -> dict[str, Any]:
    """Return what scripts want to know."""
    import numpy as np

    from crowdmetric import worth
    from crowdmetric.features import has_inverse
    from crowdmetric.points import factor

    metric = spectral = _metric(model, user)
    x, lifted = model.x[:, model.varying], not has_inverse(model.features)
    names: Sequence[str] = worth.names_of_features(model.items.names, len(metric))
    if lifted:  # its coordinates have no names, and mean little one by one
        metric, x, names = model.sensitivity(user), model.items.features, model.items.names
    shares, pairs = worth.feature_shares(metric, x), worth.pair_shares(metric, x)
    first, second = np.triu_indices(len(names), 1)
    order = np.argsort(-np.abs(pairs[first, second]), kind="stable")
    order = order[:_MOST_PAIRS_KEPT]
    outside = np.zeros(0) if lifted else model.outside_range()
    return {
        "user": user,
        "worth_by": "slopes" if lifted else "metric",
        "users": len(model.users),
        "items": len(model.items),
        "features": [
            {"feature": names[j], "share": float(shares[j]), "weight": float(metric[j, j])}
            for j in np.argsort(-shares, kind="stable").tolist()
        ],
        "pairs": [
            {"features": [names[i], names[j]], "share": float(pairs[i, j])}
            for i, j in zip(first[order].tolist(), second[order].tolist(), strict=True)
        ],
        "eigenvalues": np.maximum(np.linalg.eigvalsh(spectral)[::-1], 0.0).tolist(),
        "rank": int(factor(spectral).shape[1]),
        "effective_rank": worth.effective_rank(spectral),
        "outside_range": [
            {"user": model.users[row], "share": float(outside[row])}
            for row in np.argsort(-outside, kind="stable").tolist()
            if outside[row] > _OUTSIDE
        ],
        "notes": model.notes,
    }


def _metric(model: Model, user: Hashable | None) -> Floats:
    """Return the metric of the coordinates in which items differ."""
    import numpy as np

    metric = np.asarray(model.in_space[0], dtype=np.float64)
    if metric.ndim == 3:
        metric = metric[model.users.index(user)]
    return metric[model.varying, model.varying]


def _draw(model: Model, user: Hashable | None, folder: Path) -> list[str]:
    """Draw the pictures into the folder."""
    from crowdmetric import plots

    with warnings.catch_warnings(record=True) as caught, new_folder(folder):
        warnings.simplefilter("always", plots.MissingGlyphWarning)
        paths = plots.draw_all(model, folder, user)
    for warning in caught[:1]:  # the others say the same of other names
        complain(f"note: {warning.message}")
    return [str(path) for path in paths]


def _summary(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """Return what people want to know about the metric as a whole, and about the users."""
    values, outside = facts["eigenvalues"], facts["outside_range"]
    trace = sum(values) or 1.0
    shares = " ".join(f"{value / trace:.1%}" for value in values[: max(facts["rank"], 1)][:10])
    named = ", ".join(f"{row['user']} ({row['share']:.1%})" for row in outside[:_MOST_NAMED])
    ideal = (
        f"mean least for {named}: the shares of their scores' slopes that leave the "
        "directions that the metric measures"
        if outside
        else "every one lies in the directions that the metric measures"
    )
    if facts["worth_by"] == "slopes":
        ideal = "those of a kernel lift belong to no item: crowdmetric ideal searches for the best"
    rows = [
        ("users", str(facts["users"])),
        ("items", str(facts["items"])),
        (
            "metric",
            ("" if facts["user"] is None else f"of user {facts['user']}, ")
            + f"rank {facts['rank']} of {len(values)}; effective rank "
            f"{facts['effective_rank']:.2f}: that many directions of equal size would say as much",
        ),
        ("spectrum", f"{shares} of the trace, along its leading directions"),
        ("ideal points", ideal),
    ]
    return rows + [("pictures", ", ".join(facts["pictures"]))] * bool(facts["pictures"])


def _print_features(facts: dict[str, Any]) -> None:
    """Print what each feature is worth, as a number and as a bar."""
    features = facts["features"]
    shown, rest = features[:_MOST_FEATURES], features[_MOST_FEATURES:]
    if facts["worth_by"] == "slopes":
        print("\nWhat each feature is worth: its part in how scores change (the mean square of")
        print("their slopes in it times its variance over the items, as a share of the sum).\n")
    else:
        print("\nWhat each feature is worth: its part in how far apart items are (its entry on the")
        print("diagonal of the metric times its variance over the items, as a share of the sum).\n")
    longest = max(row["share"] for row in shown) or 1.0
    print_table(
        [
            (
                f"  {row['feature']}",
                f"{row['share']:6.1%}  {'#' * round(_BAR * row['share'] / longest)}".rstrip(),
            )
            for row in shown
        ]
    )
    if rest:
        share = sum(row["share"] for row in rest)
        print(f"  and {len(rest)} more, worth {share:.1%} together (--json has them all)")


def _print_pairs(facts: dict[str, Any]) -> None:
    """Print the pairs of features that add most to distances, and those that take most away."""
    rows = []
    for sign, word in ((1.0, "together"), (-1.0, "against")):
        strong = [pair for pair in facts["pairs"] if sign * pair["share"] >= _LEAST_PAIR]
        for pair in strong[:_MOST_PAIRS]:
            one, other = pair["features"]
            rows.append((f"  {word:<8}  {one}, {other}", f"{pair['share']:+7.1%}"))
    print(
        "\nPairs that work together or against each other: what they add, in the same unit, if two"
    )
    print("items differ in both features in the same direction by a standard deviation.\n")
    if rows:
        print_table(rows)
    else:
        print(f"  none adds or takes away {_LEAST_PAIR:.0%} or more")
