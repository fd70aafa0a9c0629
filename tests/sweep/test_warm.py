"""Children of a warm process, beside scripts that an interpreter starts for. Real processes."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from snakemake_executor_plugin_warm import KNOWN
from snakemake_executor_plugin_warm.workers import NotWarm, Workers

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="warm starts need Linux")

SAY = "import json, pathlib; say = lambda **what: pathlib.Path('said.json').write_text(json.dumps(what))\n"


@pytest.fixture(scope="module")
def warm():
    """Workers, and the lines that they told."""
    told = []
    made = Workers(told.append, ["bocu.sweep.preloaded"])
    made.told = told
    yield made
    made.close()


def run(warm, folder, text, **options):
    """Run a script in a folder by a warm child; return how it ended and what it said."""
    script = folder / "script.py"
    script.write_text(SAY + text)
    said = folder / "said.json"
    said.unlink(missing_ok=True)
    ending = warm.run(str(script), str(folder), {**os.environ, **options.pop("environment", {})}, **options)
    return ending, json.loads(said.read_text()) if said.exists() else None


WHO = """
import os, sys
say(name=__name__, file=__file__, words=sys.argv, path=sys.path[0], folder=os.getcwd(), given=os.environ.get("GIVEN"),
    main=sys.modules["__main__"].__dict__ is globals(), input=sys.stdin.read())
"""


def test_a_script_finds_what_it_finds_in_an_interpreter_of_its_own(warm, tmp_path):
    _, said = run(warm, tmp_path, WHO, environment={"GIVEN": "yes"})
    command = [sys.executable, str(tmp_path / "script.py")]
    subprocess.run(command, cwd=tmp_path, env={**os.environ, "GIVEN": "yes"}, stdin=subprocess.DEVNULL, check=True)
    assert said == json.loads((tmp_path / "said.json").read_text())
    assert said["given"] == "yes"


ENDINGS = {
    "it ends": "",
    "it leaves with a number": "raise SystemExit(3)",
    "it leaves with words": "raise SystemExit('no')",
    "it leaves with nothing": "raise SystemExit",
    "it raises": "raise ValueError('no')",
    "it is no Python": "(",
    "it kills itself": "import os; os.kill(os.getpid(), 9)",
    "it is asked to stop": "import os; os.kill(os.getpid(), 15)",
    "it has something done at its end": "import atexit; atexit.register(say, done=True)",
    "it leaves a thread": "import threading, time; threading.Timer(0.05, say, kwargs={'done': True}).start()",
}


@pytest.mark.parametrize("text", ENDINGS.values(), ids=ENDINGS.keys())
def test_it_ends_as_in_an_interpreter_of_its_own(warm, tmp_path, text):
    ending, said = run(warm, tmp_path, text)
    (tmp_path / "said.json").unlink(missing_ok=True)
    cold = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True)
    assert ending.status == cold.returncode
    assert (said is None) != (tmp_path / "said.json").exists()


def test_no_two_children_draw_the_same_numbers(warm, tmp_path):
    text = "import random, numpy; say(numbers=[random.random(), numpy.random.rand()])"
    drawn = [run(warm, tmp_path, text)[1]["numbers"] for _ in range(2)]
    assert drawn[0][0] != drawn[1][0]
    assert drawn[0][1] != drawn[1][1]


def test_memory_is_that_of_the_child_from_its_own_beginning(warm, tmp_path):
    status = "{l.split(':')[0]: int(l.split()[1]) / 1024 for l in open('/proc/self/status') if l.startswith('Vm')}"
    large, _ = run(warm, tmp_path, "held = b'x' * 200_000_000")
    small, said = run(warm, tmp_path, f"say(**{status})")
    assert large.memory_mb > small.memory_mb + 150
    assert said["VmHWM"] < said["VmRSS"] + 5


def test_processor_time_is_counted_with_that_of_its_children(warm, tmp_path):
    busy = "import time\\nwhile time.process_time() < 0.3: pass"
    ending, _ = run(warm, tmp_path, f"import subprocess, sys; subprocess.run([sys.executable, '-c', {busy!r}])")
    assert ending.seconds > 0.0
    own, _ = run(warm, tmp_path, "import time\nwhile time.process_time() < 0.3: pass")
    assert own.seconds >= 0.3


@pytest.mark.parametrize("threads", [1, 2])
def test_numerical_libraries_have_the_threads_of_the_job(warm, tmp_path, threads):
    text = """
import os, threadpoolctl, scipy.linalg
say(pools=[pool["num_threads"] for pool in threadpoolctl.threadpool_info()], given=os.environ["OMP_NUM_THREADS"])
"""
    _, said = run(warm, tmp_path, text, threads=threads)
    assert said["pools"]
    assert set(said["pools"]) == {threads}
    assert said["given"] == str(threads)


def test_whoever_watches_a_child_begins_before_it_and_ends_after_it(warm, tmp_path):
    @contextmanager
    def watch(process):
        time.sleep(0.1)
        (tmp_path / "begun").write_text(str(process))
        yield
        (tmp_path / "closed").write_text((tmp_path / "said.json").read_text())

    text = "import os; say(process=os.getpid(), saw=open('begun').read(), closed=os.path.exists('closed'))"
    ending, said = run(warm, tmp_path, text, watch=watch)
    assert ending.status == 0
    assert said == {"process": said["process"], "saw": str(said["process"]), "closed": False}
    assert json.loads((tmp_path / "closed").read_text()) == said


def test_many_threads_have_jobs_run_at_once(warm, tmp_path):
    def work(number):
        folder = tmp_path / str(number)
        folder.mkdir()
        said[number] = [run(warm, folder, f"say(number={number} * 10 + {part})")[1] for part in range(3)]

    said = {}
    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert said == {number: [{"number": number * 10 + part} for part in range(3)] for number in range(6)}


JOB = """
import sys
sys.path.append({tests!r})
import bocu.sweep.experiment.planning, experiments, yaml
before = set(sys.modules)
from bocu.sweep.runs.execution import execute
execute(experiments.block("pe-gp-ucb", iterations=4), "run.nc", "checkpoints")
say(new=sorted({{name.partition(".")[0] for name in set(sys.modules) - before}}))
"""


def test_a_run_finds_imported_what_it_needs(warm, tmp_path):
    ending, said = run(warm, tmp_path, JOB.format(tests=str(Path(__file__).parents[1])))
    assert ending.status == 0
    assert (tmp_path / "run.nc").exists()
    # pandas asks for more of pyarrow where it is installed.
    assert set(said["new"]) <= {"bocu", "pyarrow"} | sys.stdlib_module_names


SLOW = "import os, pathlib, time\nsay(process=os.getpid())\ntime.sleep(600)\npathlib.Path('ended').touch()\n"


def wait_for(file):
    end = time.monotonic() + 60
    while not (file.exists() and file.read_text()):
        assert time.monotonic() < end, file
        time.sleep(0.01)
    return json.loads(file.read_text())


def is_gone(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def started(warm, tmp_path):
    """A job that would go on, and its process."""
    ended = []
    thread = threading.Thread(target=lambda: ended.append(run(warm, tmp_path, SLOW)))
    thread.start()
    return thread, ended, wait_for(tmp_path / "said.json")["process"]


def test_a_killed_child_is_known_as_killed(warm, tmp_path):
    thread, ended, process = started(warm, tmp_path)
    os.kill(process, signal.SIGKILL)
    thread.join()
    assert ended[0][0].status == -signal.SIGKILL


def test_with_a_killed_zygote_its_children_end_and_another_takes_its_place(tmp_path):
    told = []
    own = Workers(told.append)
    thread, ended, process = started(own, tmp_path)
    os.kill(own._zygote.number, signal.SIGKILL)
    thread.join()
    assert ended[0][0] is None
    while not is_gone(process):  # it has closed its files, and takes no further step of its own
        time.sleep(0.01)
    assert not (tmp_path / "ended").exists()
    ending, said = run(own, tmp_path, "say(again=True)")
    assert (ending.status, said) == (0, {"again": True})
    own.close()
    assert [line.partition(",")[0] for line in told] == [told[0].partition(",")[0]]
    assert "was killed; another one takes its place" in told[0]


def test_with_a_killed_main_process_all_end(tmp_path):
    (tmp_path / "script.py").write_text(SAY + SLOW)
    main = (
        "import os, sys; from snakemake_executor_plugin_warm.workers import Workers\n"
        "warm = Workers(print); warm.start(); open('zygote', 'w').write(str(warm._zygote.number))\n"
        "warm.run(os.path.abspath('script.py'), os.getcwd(), dict(os.environ))\n"
    )
    process = subprocess.Popen([sys.executable, "-c", main], cwd=tmp_path)
    child = wait_for(tmp_path / "said.json")["process"]
    zygote = int((tmp_path / "zygote").read_text())
    process.kill()
    process.wait()
    end = time.monotonic() + 60
    while not (is_gone(child) and is_gone(zygote)):
        assert time.monotonic() < end
        time.sleep(0.01)
    assert not (tmp_path / "ended").exists()


@pytest.fixture
def edited(tmp_path, monkeypatch):
    """A module that may be edited, of a package that zygotes find."""
    file = tmp_path / "src/house/room.py"
    file.parent.mkdir(parents=True)
    (file.parent / "__init__.py").touch()
    file.touch()
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "src"))
    return file


def test_jobs_after_an_edit_run_what_stands_there_then(edited, tmp_path):
    told = []
    own = Workers(told.append, ["house.room"])
    text = "import sys; room = sys.modules['house.room']; say(edited=hasattr(room, 'EDITED'))"
    assert run(own, tmp_path, text)[1] == {"edited": False}
    edited.write_text("EDITED = True\n")
    assert [run(own, tmp_path, text)[1] for _ in range(2)] == [{"edited": True}] * 2
    own.close()
    assert told == [f"{edited} was edited: jobs from here on run what stands there now"]


def test_a_job_of_before_an_edit_goes_on(edited, tmp_path):
    told = []
    own = Workers(told.append, ["house.room"])
    text = "import os, time\nsay(begun=True)\nwhile not os.path.exists('go'): time.sleep(0.01)\nsay(done=True)"
    folder = tmp_path / "before"
    folder.mkdir()
    ended = []
    thread = threading.Thread(target=lambda: ended.append(run(own, folder, text)))
    thread.start()
    wait_for(folder / "said.json")
    edited.write_text("\n")
    run(own, tmp_path, "say(after=True)")
    (folder / "go").touch()
    thread.join()
    own.close()
    assert ended[0][0].status == 0
    assert ended[0][1] == {"done": True}
    assert len(told) == 1


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("raise RuntimeError('cannot')", "RuntimeError: cannot"),
        ("import os; os._exit(7)", "it ended with status 7"),
        (
            "import threading; threading.Thread(target=threading.Event().wait, daemon=True).start()",
            "started threads: python",
        ),
    ],
)
def test_where_the_imports_fail_it_says_so_once_and_jobs_start_cold(edited, tmp_path, line, why):
    edited.write_text(f"{line}\n")
    told = []
    own = Workers(told.append, ["house.room"])
    for _ in range(2):
        with pytest.raises(NotWarm):
            run(own, tmp_path, "say(ran=True)")
    own.close()
    (said,) = told
    assert said.startswith("no warm start: ")
    assert why in said
    assert not (tmp_path / "said.json").exists()


PARAMETERS = """
import pickle, sys
from snakemake.iocontainers import Params
before = set(sys.modules)
list(Params(toclone=[{"specification": 1}]))
say(new=sorted(set(sys.modules) - before))
"""


def test_the_parameters_of_a_job_need_no_import(warm, tmp_path):
    assert run(warm, tmp_path, PARAMETERS)[1] == {"new": []}


COLD = """
import os
from pathlib import Path
Path("report.txt").write_text(Path(f"/proc/{os.getppid()}/cmdline").read_text())
"""


def test_under_another_version_of_snakemake_it_says_so_and_starts_cold(tmp_path):
    (tmp_path / "Snakefile").write_text('rule report:\n    output: "report.txt"\n    script: "report.py"\n')
    (tmp_path / "report.py").write_text(COLD)
    # As an installation of another Snakemake would have it.
    (tmp_path / "sitecustomize.py").write_text("import snakemake; snakemake.__version__ = '9.99.1'")
    paths = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    command = [sys.executable, "-m", "snakemake", "--workflow-profile", "none", "--cores", "1", "--executor", "warm"]
    done = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, check=True
    )
    (line,) = re.findall(r"^note: .*", done.stderr, re.MULTILINE)
    assert line == (
        f"note: no warm start: it is made for Snakemake {', '.join(KNOWN)}, this is 9.99.1;"
        " each job starts an interpreter of its own"
    )
    assert "zygote" not in (tmp_path / "report.txt").read_text()


@pytest.mark.parametrize("module", ["threading_module", "pyarrow"])
def test_a_module_that_starts_threads_is_not_preloaded_but_for_those_that_survive_a_fork(tmp_path, module):
    if module == "pyarrow":
        pytest.importorskip(module)
    (tmp_path / "threading_module.py").write_text(
        "import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"
    )
    script = f"from snakemake_executor_plugin_warm.zygote import preload\npreload([{module!r}])"
    paths = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-c", script], env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True
    )
    refused = re.search("RuntimeError: an imported module has started threads: python", done.stderr)
    assert (done.returncode, bool(refused)) == ((0, False) if module == "pyarrow" else (1, True)), done.stderr
