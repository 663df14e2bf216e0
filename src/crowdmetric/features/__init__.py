"""Feature maps: fitted with the model and saved in it, so that new raw items just work.

`protocol` says what a map is, `affine` has those that keep the features, `lift` those that make
features of a kernel's (`covariances`), `shared` adds a point that the crowd shares to any of them,
and `naming` finds maps by name.
"""

from __future__ import annotations

from crowdmetric.features.affine import Center, Raw, Standardize, UnitBall
from crowdmetric.features.covariances import RBF, Covariance, Matern, Polynomial
from crowdmetric.features.lift import KernelLift
from crowdmetric.features.naming import feature_map
from crowdmetric.features.protocol import FeatureMap, has_inverse
from crowdmetric.features.shared import SharedPoint

__all__ = [
    "RBF",
    "Center",
    "Covariance",
    "FeatureMap",
    "KernelLift",
    "Matern",
    "Polynomial",
    "Raw",
    "SharedPoint",
    "Standardize",
    "UnitBall",
    "feature_map",
    "has_inverse",
]
