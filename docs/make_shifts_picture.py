"""Draw `docs/shifts.png`: a law of one context over 40 rounds, under every shift.

Run `python docs/make_shifts_picture.py`.
"""

from collections.abc import Iterator
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

from bocu.robust.contexts.laws import LawParameters
from bocu.robust.contexts.shifts import Schedule, ShiftParameters

ROUNDS = 40
POINTS = np.linspace(0.0, 1.0, 201)[:, None]
BASE = {"name": "normal", "parameters": {"mean": 0.3, "std": 0.1}}
HIGH = {"name": "normal", "parameters": {"mean": 0.75, "std": 0.06}}
DATA = {"name": "kde", "parameters": {"data": [0.55, 0.6, 0.85, 0.9], "bandwidth": 0.03}}


def panels() -> Iterator[tuple[str, str, dict[str, object]]]:
    """Title, shift and its parameters."""
    yield "jump at 21", "jump", {"at": 21, "to": HIGH}
    yield "drift over 30", "drift", {"start": 5, "over": 30, "to": HIGH}
    yield "drift in 3 steps", "drift", {"start": 5, "over": 30, "steps": 3, "to": HIGH}
    yield "drift, path: mixture", "drift", {"start": 5, "over": 30, "path": "mixture", "to": DATA}
    yield "season of 16", "season", {"period": 16, "amplitude": {"mean": 0.2, "std": 0.04}}


def main() -> None:
    """Draw and write it."""
    figure, axes = plt.subplots(1, 5, figsize=(11, 2.6), sharey=True, layout="constrained")
    for axis, (title, name, parameters) in zip(axes, panels(), strict=True):
        shift = ShiftParameters(name=name, parameters=parameters)
        schedule = Schedule(LawParameters.model_validate(BASE), shift, dimension=1)
        weights = np.stack([schedule.weights(t, POINTS) for t in range(1, ROUNDS + 1)])
        axis.imshow(np.sqrt(weights), origin="lower", aspect="auto", cmap="Blues", extent=(0.0, 1.0, 0.5, ROUNDS + 0.5))
        axis.set_title(title, fontsize=10)
        axis.set_xlabel("context")
    axes[0].set_ylabel("round")
    figure.savefig(Path(__file__).with_name("shifts.png"), dpi=90, metadata={"Software": None})


if __name__ == "__main__":
    main()
