"""The words that options take, written out here so that parsing needs nothing heavy."""

from __future__ import annotations

__all__ = [
    "CHOSEN", "FEATURES", "KERNELS", "LOSSES", "REGIONS", "SCHEMES", "SCORINGS", "TIES",
]  # fmt: skip

REGIONS = ("nuclear-full", "frobenius", "nuclear-metric", "nuclear-split", "psd", "fixed")
LOSSES = ("logistic", "probit", "hinge", "squared-hinge", "smoothed-hinge")
FEATURES = ("raw", "center", "standardize", "unit-ball", "kernel")
KERNELS = ("matern", "rbf", "polynomial")
TIES = ("half", "drop")
SCHEMES = ("minimal", "random", "optimal")
CHOSEN = ("region", "features", "loss-scale")
SCORINGS = ("log-loss", "accuracy")
