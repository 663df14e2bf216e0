"""Options for richer feature maps: which kernel, its length scale, and what the crowd shares."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING

from crowdmetric.cli import choices
from crowdmetric.cli.parser import Parser, count, number, one_of, positive
from crowdmetric.errors import SettingError

if TYPE_CHECKING:
    from crowdmetric.features import Covariance, FeatureMap

__all__ = ["add_lift", "chosen_map"]


def add_lift(command: Parser) -> None:
    """Add the options."""
    command.add_argument(
        "--kernel",
        type=one_of(choices.KERNELS),
        choices=choices.KERNELS,
        help=f"with --features kernel: which (default {choices.KERNELS[0]})",
    )
    command.add_argument(
        "--length-scale",
        type=positive,
        metavar="L",
        help="of rbf and matern, in medians of the distance between items (default 1)",
    )
    command.add_argument(
        "--landmarks",
        type=count,
        metavar="N",
        help="with --features kernel: how many items stand for all in the lift (default 100); the "
        "metric has as many rows",
    )
    command.add_argument(
        "--shared-point",
        type=number,
        metavar="W",
        help="how cheap it is for everyone to like the same things; 0: no point is shared "
        "(default: 1 with --features kernel, else 0)",
    )


def chosen_map(arguments: argparse.Namespace) -> FeatureMap:
    """Return the feature map that the options describe."""
    from crowdmetric.features import KernelLift, SharedPoint, feature_map

    lifted = arguments.features == KernelLift.name
    for option in ("kernel", "length_scale", "landmarks"):
        if getattr(arguments, option) is not None and not lifted:
            flag = "--" + option.replace("_", "-")
            raise SettingError(f"{flag} is about --features kernel, not {arguments.features}")
    plain = _lift(arguments) if lifted else feature_map(arguments.features)
    weight = arguments.shared_point
    if weight is None:
        return SharedPoint(plain) if lifted else plain
    try:
        return plain if weight == 0 else SharedPoint(plain, weight)
    except SettingError as error:
        raise SettingError(f"--shared-point: {error}") from error


def _lift(arguments: argparse.Namespace) -> FeatureMap:
    """Return the lift."""
    from crowdmetric.features import KernelLift

    lift = KernelLift(_covariance(arguments))
    return lift if arguments.landmarks is None else replace(lift, size=arguments.landmarks)


def _covariance(arguments: argparse.Namespace) -> Covariance:
    """Return the kernel."""
    from crowdmetric.features import RBF, Matern, Polynomial

    if arguments.kernel == Polynomial.name:
        if arguments.length_scale is not None:
            raise SettingError("--length-scale: the kernel 'polynomial' has none; leave it out")
        return Polynomial()
    relative = 1.0 if arguments.length_scale is None else arguments.length_scale
    return RBF(relative=relative) if arguments.kernel == RBF.name else Matern(relative=relative)
