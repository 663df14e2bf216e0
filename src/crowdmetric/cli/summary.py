"""What is said about a fit: to scripts, and to people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from crowdmetric.comparisons import Comparisons
    from crowdmetric.model import Model

__all__ = ["facts_of", "summary"]


def facts_of(model: Model, comparisons: Comparisons) -> dict[str, Any]:
    """Return what scripts want to know about a fit.

    Parameters
    ----------
    model : Model
        What was fitted.
    comparisons : Comparisons
        What it was fitted to.

    Returns
    -------
    dict
        Ready for JSON.
    """
    from crowdmetric.metrics import accuracy

    certificate = model.certificate
    return {
        "risk": certificate.risk,
        "lower_bound": certificate.lower_bound,
        "gap": certificate.gap,
        "iterations": certificate.iterations,
        "seconds": certificate.seconds,
        "users": len(model.users),
        "items": len(model.items),
        "comparisons": len(comparisons),
        "region": model.region.name,
        "radius": list(model.region.radii),
        "loss": model.loss.name,
        "loss_scale": getattr(model.loss, "scale", None),
        "features": model.features.name,
        "status": certificate.status,
        "accuracy": accuracy(model.margins(comparisons), comparisons.response, comparisons.weight),
        "rank": model.rank,
        "notes": model.notes,
    }


def summary(model: Model, facts: dict[str, Any]) -> list[tuple[str, str]]:
    """Return what people want to know about a fit.

    Parameters
    ----------
    model : Model
        What was fitted.
    facts : dict
        From `facts_of`, with "chosen", "model" and "total_seconds".

    Returns
    -------
    list of (name, value)
        A line each.
    """
    from crowdmetric.regions import RADII

    names = [field.replace("_", " ") for field in RADII[facts["region"]]]
    radii = [f"{name} {radius:.6g}" for name, radius in zip(names, facts["radius"], strict=True)]
    how = " (chosen by cross-validation)" if facts["chosen"] else ""
    scale = facts["loss_scale"]
    distance = model.certificate.distance
    scope = "" if distance is None else f", up to a distance of {distance:.3g} from zero,"
    whose = "each user their own, " if model.metric.ndim == 3 else ""
    return [
        (
            "answers",
            f"{facts['comparisons']} by {facts['users']} users about {facts['items']} items",
        ),
        ("region", f"{', '.join([facts['region'], *radii])}{how}"),
        ("loss", facts["loss"] + ("" if scale is None else f", scale {scale:g}")),
        ("features", facts["features"]),
        ("risk", f"{facts['risk']:.6g}"),
        (
            "gap",
            f"{facts['gap']:.1e}: no metric and points in the region{scope} have a risk that is "
            f"lower by more ({facts['status']})",
        ),
        ("accuracy", f"{facts['accuracy']:.1%} of these answers, which the model has seen"),
        ("metric", f"{whose}rank {facts['rank']} of {model.varying.stop}"),
        (
            "time",
            f"{facts['total_seconds']:.2f} s, of which {facts['seconds']:.2g} s for the final fit "
            f"({facts['iterations']} iterations)",
        ),
        ("model", facts["model"]),
    ]
