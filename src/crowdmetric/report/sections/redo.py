"""Certificate, settings, versions, and the commands to do it again."""

from __future__ import annotations

from crowdmetric.model import Model
from crowdmetric.regions import RADII, FixedMetric
from crowdmetric.report.markup import Html, definitions, element, join, listing, paragraph
from crowdmetric.report.provenance import command_line, versions
from crowdmetric.report.section import Written
from crowdmetric.report.sections.asked import plural
from crowdmetric.report.study import Study
from crowdmetric.report.tables import Column, names, table

__all__ = ["fit_command", "redo"]


def redo(study: Study) -> Written:
    """Return the section that lets others check and repeat.

    Parameters
    ----------
    study : Study
        What the report is about.

    Returns
    -------
    Written
        The last section.

    Examples
    --------
    >>> from crowdmetric.report.examples import study
    >>> "--region frobenius --radius 3.0 5.0" in redo(study()).html
    True
    """
    parts = [
        element("h3", "Certificate"),
        _certificate(study.model),
        element("h3", "Settings"),
        definitions(_settings(study.model)),
        element("h3", "Commands"),
        _commands(study),
        element("h3", "Files and versions"),
        _files(study),
        _versions(study),
    ]
    return Written("Certificate, settings, and how to do it again", join(parts))


def fit_command(model: Model, comparisons: str, items: str, out: str) -> str | None:
    """Return the command that fits the model again.

    Parameters
    ----------
    model : Model
        What it should give.
    comparisons, items, out : str
        The files.

    Returns
    -------
    str or None
        None where the model was fitted in Python with parts that no command has.

    Examples
    --------
    >>> from crowdmetric.model import example
    >>> print(fit_command(example(), "answers.csv", "items.csv", "crowd.model"))
    crowdmetric fit answers.csv --items items.csv --region frobenius --radius 3.0 5.0
    --loss logistic --loss-scale 1.0 --features raw --tol 1e-06 --out crowd.model
    """
    region, loss = model.region, model.loss
    radii = [str(radius) for radius in region.radii if isinstance(radius, float)]
    named = region.name in RADII and not isinstance(region, FixedMetric)
    if not named or len(radii) != len(region.radii) or model.additions:
        return None
    words = ["crowdmetric", "fit", comparisons, "--items", items, "--region", region.name]
    words += ["--radius", *radii] if radii else []
    words += ["--loss", loss.name]
    scale = getattr(loss, "scale", None)
    words += [] if scale is None else ["--loss-scale", str(scale)]
    words += ["--features", model.features.name, "--tol", str(model.certificate.tolerance)]
    bound = region.margin_bound
    words += [] if bound is None else ["--margin-bound", str(bound)]
    words += ["--single"] if model.metric.ndim == 3 else []
    return command_line([*words, "--out", out])


def _certificate(model: Model) -> Html:
    """Say how near the fit is to the best, in words and in numbers."""
    found = model.certificate
    scope = "" if found.distance is None else f", up to a distance of {found.distance:.3g},"
    said = paragraph(
        f"No metric and ideal points in the region{scope} have a risk that is lower than this "
        f"model's by more than {found.gap:.1e}. So what the model gets wrong is down to the "
        "answers, or to what the model assumes; not to a search that stopped too early. It does "
        "not say that the model is right."
    )
    facts: list[tuple[object, object]] = [
        ("risk", f"{found.risk:.9g}"),
        ("proven lower bound", f"{found.lower_bound:.9g}"),
        ("gap", f"{found.gap:.2e}"),
        ("status", found.status),
        ("work", f"{plural(found.iterations, 'iteration')}, {found.seconds:.2g} s"),
    ]
    facts += [
        (f"added later: {plural(len(added.users), 'person')}", str(added.certificate))
        for added in model.additions
    ]
    notes = listing(model.notes, class_="notes")
    return join([said, definitions(facts), notes])


def _settings(model: Model) -> list[tuple[object, object]]:
    """Return what was chosen."""
    region = model.region
    radii = [f"{radius:.9g}" for radius in region.radii if isinstance(radius, float)]
    fields = [field.replace("_", " ") for field in RADII.get(region.name, ())]
    sized = ", ".join(f"{word} {size}" for word, size in zip(fields, radii, strict=False))
    scale = getattr(model.loss, "scale", None)
    settings: list[tuple[object, object]] = [
        ("region", region.name + (f": {sized}" if sized else "")),
        ("loss", model.loss.name + ("" if scale is None else f", scale {scale:g}")),
        ("features", model.features.name),
        ("metric", "one for each person" if model.metric.ndim == 3 else "one for all"),
        ("tolerance", f"{model.certificate.tolerance:g}"),
    ]
    if region.margin_bound is not None:
        settings.append(("margin bound", f"{region.margin_bound:g}"))
    return settings


def _commands(study: Study) -> Html:
    """Return what to type."""
    paths = {source.role: source.path for source in study.provenance.sources}
    parts = []
    if study.provenance.command:
        parts += [
            paragraph("This report:"),
            element("pre", element("code", study.provenance.command), tabindex=0),
        ]
    again = fit_command(
        study.model,
        paths.get("answers", "COMPARISONS") if study.seen else "COMPARISONS",
        paths.get("items", "ITEMS"),
        paths.get("model", "MODEL"),
    )
    if again is not None:
        parts += [
            paragraph(
                "The model, from its settings"
                + ("" if study.seen else " (COMPARISONS: the answers it was fitted to)")
                + ("" if "items" in paths else " (ITEMS: the file of features)")
                + ":"
            ),
            element("pre", element("code", again), tabindex=0),
        ]
    return join(parts)


def _files(study: Study) -> Html:
    """Return a table of what went in."""
    sources = study.provenance.sources
    if not sources:
        return Html()
    columns = [
        Column("what", [source.role for source in sources]),
        names("file", [source.path for source in sources]),
        Column("SHA-256", [element("code", source.digest) for source in sources]),
    ]
    return table("Files", columns, sortable=False)


def _versions(study: Study) -> Html:
    """Return what computed it, and when."""
    date = study.provenance.date
    said: list[tuple[object, object]] = [("written", date)] if date else []
    return definitions([*said, *versions()])
