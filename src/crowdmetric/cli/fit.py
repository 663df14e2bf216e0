"""``crowdmetric fit``: from comparisons and items to a certified model in a file."""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdmetric.cli import choices
from crowdmetric.cli.lift import add_lift, chosen_map
from crowdmetric.cli.options import refuse_input
from crowdmetric.cli.output import about, complain, print_json, print_table
from crowdmetric.cli.parser import Parser, count, number, one_of, positive, whole
from crowdmetric.cli.summary import facts_of, summary
from crowdmetric.files import check_file

if TYPE_CHECKING:
    from crowdmetric.comparisons import Comparisons, Items
    from crowdmetric.estimator import CrowdMetric
    from crowdmetric.features import FeatureMap
    from crowdmetric.model import Model
    from crowdmetric.regions import Region

__all__ = ["add", "run"]

_EXAMPLES = """\
examples:
  crowdmetric fit answers.csv --items items.csv
  crowdmetric fit answers.csv --items items.csv --region frobenius --radius 3 10 --json
  crowdmetric fit answers.csv --items items.csv --choose region features --jobs 2

A file of comparisons has the columns user, left, right, response (left, right or tie), or else
user, winner, loser; weight and time are optional. A file of items has a column item and numeric
columns. Both may be CSV, Parquet, JSON Lines or Arrow, by their endings."""


def add(parser: Parser) -> None:
    """Add the command to the command line's parser."""
    command = parser.command(
        "fit",
        run,
        "learn a metric and everyone's ideal point from comparisons, and save the model",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("comparisons", metavar="COMPARISONS", help="file of answers")
    command.add_argument("--items", required=True, metavar="ITEMS", help="file of features")
    command.add_argument(
        "--out", default="crowd.model", metavar="MODEL", help="model file (default crowd.model)"
    )
    _add_problem(command)
    _add_choice(command)
    _add_solver(command)
    command.add_argument("--json", action="store_true", help="print one JSON object")


def _add_problem(command: Parser) -> None:
    """Add the options that say what is minimised, and where."""
    for option, words, meaning in (
        ("--region", choices.REGIONS, "where the metric and the points may live"),
        ("--loss", choices.LOSSES, "what a wrong answer costs"),
        ("--features", choices.FEATURES, "what is done to the features first"),
        ("--ties", choices.TIES, "count a tie as half an answer each way, or drop it"),
    ):
        command.add_argument(
            option,
            type=one_of(words),
            choices=words,
            default=words[0],
            help=f"{meaning} (default {words[0]})",
        )
    add_lift(command)
    command.add_argument(
        "--radius",
        type=number,
        nargs="+",
        metavar=("A", "B"),
        help="the region's radius, or its two: of the metric and of the points; "
        "chosen by cross-validation when not given",
    )
    command.add_argument(
        "--metric",
        metavar="FILE",
        help="with --region fixed: the metric, as .npy or as .csv without a header "
        "(the identity when not given)",
    )
    command.add_argument(
        "--loss-scale", type=positive, metavar="B", help="of logistic and probit (default 1)"
    )
    command.add_argument(
        "--margin-bound", type=positive, metavar="G", help="no user's margins may exceed it"
    )
    command.add_argument(
        "--single", action="store_true", help="a metric for each user instead of one for the crowd"
    )


def _add_choice(command: Parser) -> None:
    """Add the options that say what cross-validation chooses, and how."""
    command.add_argument(
        "--choose",
        nargs="+",
        type=one_of(choices.CHOSEN),
        choices=choices.CHOSEN,
        default=[],
        metavar="WHAT",
        help="choose by cross-validation, besides the radius: region (of those with radii), "
        "features, loss-scale (which matters where the region fixes the size of margins)",
    )
    command.add_argument(
        "--scoring",
        type=one_of(choices.SCORINGS),
        choices=choices.SCORINGS,
        default=choices.SCORINGS[0],
        help="what the choice goes by, on answers left out (default log-loss)",
    )
    command.add_argument(
        "--one-standard-error",
        action="store_true",
        help="choose the smallest region that is worse than the best by no more than chance",
    )
    command.add_argument(
        "--jobs",
        type=count,
        default=1,
        metavar="N",
        help="processes that share the work of choosing (default 1)",
    )
    command.add_argument(
        "--seed",
        type=whole,
        default=0,
        metavar="S",
        help="of the folds of the cross-validation (default 0)",
    )


def _add_solver(command: Parser) -> None:
    """Add the options that say how hard to work."""
    command.add_argument(
        "--tol",
        type=positive,
        default=1e-6,
        metavar="T",
        help="certified gap to reach (default 1e-6)",
    )
    command.add_argument(
        "--max-iterations", type=count, metavar="N", help="when to give up, and say so"
    )
    command.add_argument(
        "--threads", type=count, default=1, metavar="N", help="threads of the loops (default 1)"
    )
    command.add_argument(
        "--progress",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="progress on standard error (default: if that is a terminal)",
    )


def run(arguments: argparse.Namespace) -> None:
    """Read, fit, save, and say what came out."""
    begun = time.perf_counter()
    _check_settings(arguments)
    refuse_input(arguments.out, arguments.comparisons, arguments.items, arguments.metric)
    check_file(Path(arguments.out), "model")
    from crowdmetric.readers import read_comparisons, read_items

    wanted = chosen_map(arguments)
    items = read_items(arguments.items)
    with about(arguments.items):
        mapped = wanted.fit(items.features, items.names)
    comparisons = read_comparisons(arguments.comparisons, items)
    estimator = _estimator(arguments, items, mapped)
    with about(arguments.comparisons):
        model = _fitted(estimator, comparisons)
    model.save(arguments.out)
    for note in model.notes:
        if str(model.certificate) not in note:  # a warning has told that already
            complain(f"note: {note}")
    facts = facts_of(model, comparisons)
    facts |= {
        "chosen": arguments.radius is None and bool(model.region.radii),
        "model": arguments.out,
        "total_seconds": time.perf_counter() - begun,
    }
    if arguments.json:
        print_json(facts)
    else:
        print_table(summary(model, facts))


def _check_settings(arguments: argparse.Namespace) -> None:
    """Refuse settings that make no sense together, before any file is read."""
    import numpy as np

    from crowdmetric import losses
    from crowdmetric.errors import SettingError
    from crowdmetric.regions import FixedMetric, by_name

    losses.by_name(arguments.loss, arguments.loss_scale)
    region, radii = arguments.region, arguments.radius
    if arguments.metric is not None and region != "fixed":
        raise SettingError(f"--metric: only the region 'fixed' takes a metric, not {region!r}")
    _check_choice(arguments)
    if radii is None:
        return
    try:
        if region != "fixed":
            by_name(region, radii)
        elif len(radii) == 1:
            FixedMetric(np.eye(1), *radii)
        else:
            raise SettingError(
                f"the region 'fixed' takes a point radius, but {len(radii)} number(s) were given"
            )
    except SettingError as error:
        raise SettingError(f"--radius: {error}") from error


def _check_choice(arguments: argparse.Namespace) -> None:
    """Refuse to choose what is given."""
    from crowdmetric.errors import SettingError

    given = {
        "region": ("--region", arguments.region != choices.REGIONS[0]),
        "features": ("--features", arguments.features != choices.FEATURES[0]),
        "loss-scale": ("--loss-scale", arguments.loss_scale is not None),
    }
    for what in arguments.choose:
        option, is_given = given[what]
        if is_given:
            raise SettingError(f"--choose {what}: {option} says already; leave one of them out")
    if arguments.choose and arguments.radius is not None:
        raise SettingError("--choose: radii are chosen too; leave --radius out")
    if arguments.choose and arguments.region == "psd":
        raise SettingError(
            "--choose: the region 'psd' has no radius, so nothing is chosen; use another region"
        )


def _estimator(arguments: argparse.Namespace, items: Items, mapped: FeatureMap) -> CrowdMetric:
    """Return what fits with the radius given, or with one that it chooses."""
    from crowdmetric import losses
    from crowdmetric.estimator import CrowdMetric, CrowdMetricCV
    from crowdmetric.regions import by_name

    progress = sys.stderr.isatty() if arguments.progress is None else arguments.progress
    settings: dict[str, Any] = {
        "items": items,
        "loss": losses.by_name(arguments.loss, arguments.loss_scale),
        "features": mapped,
        "ties": arguments.ties,
        "single": arguments.single,
        "tol": arguments.tol,
        "threads": arguments.threads,
        "progress": progress,
    }
    if arguments.max_iterations is not None:
        settings["max_iterations"] = arguments.max_iterations
    name, radius, bound = arguments.region, arguments.radius, arguments.margin_bound
    family = _fixed(arguments, mapped, items) if name == "fixed" else None
    if radius is not None or name == "psd":
        region = family(*radius) if family else by_name(name, radius or (), bound)
        return CrowdMetric(region=region, **settings)
    if progress:
        complain("no --radius: choosing it by cross-validation")
    if "region" in arguments.choose:
        name = [region for region in choices.REGIONS if region not in ("psd", "fixed")]
    if "features" in arguments.choose:
        settings["features"] = list(choices.FEATURES)
    return CrowdMetricCV(
        region=family or name,
        loss_scales="auto" if "loss-scale" in arguments.choose else None,
        scoring=arguments.scoring,
        one_standard_error=arguments.one_standard_error,
        margin_bound=bound,
        random_state=arguments.seed,
        n_jobs=arguments.jobs,
        **settings,
    )


def _fitted(estimator: CrowdMetric, comparisons: Comparisons) -> Model:
    """Fit, and say aloud which radius was chosen and whether the tolerance was reached."""
    from crowdmetric.certificate import NotConvergedWarning
    from crowdmetric.errors import DataError, FoldsError
    from crowdmetric.estimator import CrowdMetricCV

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", NotConvergedWarning)
        try:
            estimator.fit(comparisons)
        except FoldsError as error:
            raise DataError(
                f"{error.problem} to choose the radius by cross-validation; give --radius"
            ) from error
    for warning in caught:
        complain(f"warning: {warning.message}")
    if isinstance(estimator, CrowdMetricCV):
        tried = len(estimator.cv_results_["radii"])
        chosen = " ".join(f"{radius:.6g}" for radius in estimator.radius_)
        complain(f"no --radius: {chosen} was chosen by cross-validation, out of {tried} tried")
    return estimator.model_


def _fixed(
    arguments: argparse.Namespace, mapped: FeatureMap, items: Items
) -> Callable[..., Region]:
    """Return the function from the point radius to the region of the given metric."""
    import numpy as np

    from crowdmetric.cli.matrix import read_matrix
    from crowdmetric.errors import DataError, SettingError
    from crowdmetric.regions import FixedMetric

    dimension = mapped.transform(items.features[:1]).shape[1]
    metric = np.eye(dimension)
    if arguments.metric is not None:
        metric = read_matrix(arguments.metric)
        if len(metric) != dimension:
            raise DataError(
                f"{arguments.metric}: the metric is for {len(metric)} feature(s), but the items "
                f"have {dimension}; give one of that size"
            )
        try:
            FixedMetric(metric, 1.0)
        except SettingError as error:
            raise DataError(f"{arguments.metric}: {error}; check its numbers") from error
    return partial(FixedMetric, metric, margin_bound=arguments.margin_bound)
