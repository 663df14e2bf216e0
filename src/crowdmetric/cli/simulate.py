"""``crowdmetric simulate``: a crowd with known truth, as files."""

from __future__ import annotations

import argparse

from crowdmetric.cli.parser import Parser, count, positive, whole

__all__ = ["add", "run"]


def add(parser: Parser) -> None:
    """Add the command to the command line's parser."""
    command = parser.command(
        "simulate",
        run,
        "draw a crowd with known truth and write items.csv, comparisons.csv, test.csv, truth.npz",
    )
    for option, default, meaning in (
        ("--items", 100, "number of items"),
        ("--dim", 10, "number of features"),
        ("--rank", 1, "rank of the true metric"),
        ("--users", 10, "number of users"),
        ("--pairs", 300, "answers per user to learn from"),
        ("--test-pairs", 300, "answers per user to test on"),
    ):
        command.add_argument(
            option, type=count, default=default, metavar="N", help=f"{meaning} (default {default})"
        )
    command.add_argument(
        "--noise",
        type=positive,
        default=1.0,
        metavar="B",
        help="beta of the logistic answers: the larger, the fewer are wrong (default 1)",
    )
    command.add_argument(
        "--seed", type=whole, default=0, metavar="S", help="same seed, same crowd (default 0)"
    )
    command.add_argument("--out", required=True, metavar="DIR", help="folder to write to")


def run(arguments: argparse.Namespace) -> None:
    """Draw the crowd and write it."""
    from crowdmetric.simulation import simulate

    crowd = simulate(
        n_items=arguments.items,
        dimension=arguments.dim,
        rank=arguments.rank,
        n_users=arguments.users,
        pairs_per_user=arguments.pairs,
        noise=arguments.noise,
        seed=arguments.seed,
        test_pairs_per_user=arguments.test_pairs,
    )
    crowd.write(arguments.out)
    print(
        f"{arguments.out}: {len(crowd.items)} items, {arguments.users} users, "
        f"{len(crowd.comparisons)} answers and {len(crowd.test)} to test on; the truth itself "
        f"agrees with {crowd.truth_accuracy:.1%} of the latter"
    )
