"""RO-Crate: the results of a sweep and the workflow that made them, as one folder that describes itself.

The workflow is described by repo2rocrate; the root and the run are completed here, as the profile of a Workflow Run
RO-Crate asks (https://w3id.org/ro/wfrun/workflow/0.6). Needs the extra `crate`; imported only when asked for.
"""

import datetime
import shutil
from pathlib import Path

from repo2rocrate.snakemake import SnakemakeCrateBuilder
from rocrate.model.contextentity import ContextEntity
from rocrate.rocrate import ROCrate

from bocu.core.errors import BocuError
from bocu.core.io.files import atomic_path
from bocu.sweep.experiment.plan import Plan

PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.6": ("Process Run Crate", "0.6"),
    "https://w3id.org/ro/wfrun/workflow/0.6": ("Workflow Run Crate", "0.6"),
    "https://w3id.org/workflowhub/workflow-ro-crate/1.1": ("Workflow RO-Crate", "1.1"),
}


class _Builder(SnakemakeCrateBuilder):
    """Describes the workflow, and no results: of all that lies under results/, one experiment is asked for."""

    DATA_ENTITIES = [entry for entry in SnakemakeCrateBuilder.DATA_ENTITIES if entry[0] != "results"]  # noqa: RUF012


def write_crate(plan: Plan, folder: Path, licence: str) -> None:
    """Write the crate of an experiment whose report stands, from the working folder.

    Args:
        plan: of the experiment.
        folder: where nothing stands yet.
        licence: SPDX identifier of the licence that the crate is given under.

    Raises:
        BocuError: there is no report yet, or no Snakefile here.
    """
    report = Path(plan.paths.report())
    if not report.is_file():
        raise BocuError(f"{report}: not made yet; a crate holds the results of a finished sweep")
    if not Path("Snakefile").is_file():
        raise BocuError("Snakefile: there is none in this folder; run this where the sweep was run")
    with atomic_path(folder) as passing:
        try:
            described(plan, licence).write(passing)
        except BaseException:
            shutil.rmtree(passing, ignore_errors=True)
            raise


def described(plan: Plan, licence: str) -> ROCrate:
    """Return the crate of an experiment, not written yet; arguments as of `write_crate`."""
    ended = datetime.datetime.fromtimestamp(Path(plan.paths.report()).stat().st_mtime, datetime.UTC)
    name = plan.experiment.name
    crate = _Builder(Path()).build(Path("Snakefile"), wf_name="bocu", license=licence)
    results = crate.add_dataset(plan.results, f"{plan.results}/", properties={"name": f"Results of {name}"})
    about = {"name": "The experiment as it was run", "encodingFormat": "application/json"}
    recorded = crate.add_file(plan.paths.record, plan.paths.record, properties=about)
    terms = ContextEntity(crate, f"https://spdx.org/licenses/{licence}", {"@type": "CreativeWork", "name": licence})
    run = {"@type": "CreateAction", "name": f"The sweep {name}", "endTime": ended.isoformat(timespec="seconds")}
    action = crate.add(ContextEntity(crate, f"#sweep-{name}", run))
    action["instrument"] = crate.mainEntity
    action["object"], action["result"] = [recorded], [results]
    root = crate.root_dataset
    root["name"] = f"Results of {name}, with the workflow that made them"
    root["description"] = plan.experiment.description or f"The sweep {name} of robust Bayesian optimisation, by bocu."
    root["datePublished"] = f"{ended.date()}"
    root["license"] = crate.add(terms)
    root["mentions"] = [action]
    root["conformsTo"] = [
        crate.add(ContextEntity(crate, at, {"@type": "CreativeWork", "name": title, "version": version}))
        for at, (title, version) in PROFILES.items()
    ]
    crate.metadata.extra_contexts.append("https://w3id.org/ro/terms/workflow-run/context")
    return crate
