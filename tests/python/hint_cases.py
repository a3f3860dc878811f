# SPDX-License-Identifier: BSD-2-Clause
"""Type hints: the stubs say what the module has, and what the guide does fits them."""
import inspect
import os
import re
import subprocess
import sys

import trackway
import trackway._core
from harness import ROOT, Skip, case, equal

# Names that mypy itself sees otherwise than Python does.
ALLOWED = r"trackway\..*\.(Callable|Iterable|Sequence|Protocol|PathLike)(\..*)?"
SETTINGS = """[mypy]
strict = True
cache_dir = {cache}
[mypy-pandas.*,distributed.*]
ignore_missing_imports = True
"""


def mypy(tool, *words):
    """Runs a module of mypy (Debian: mypy), with strict settings, on the package under test."""
    if subprocess.run([sys.executable, "-c", "import mypy.stubtest"], capture_output=True, check=False).returncode != 0:
        raise Skip("no mypy")
    if os.environ.get("LD_PRELOAD"):
        raise Skip("the plain build says the same")
    package = os.path.dirname(os.path.dirname(os.path.abspath(trackway.__file__)))
    settings = tool.write("mypy.ini", SETTINGS.format(cache=tool.folder / "cache"))
    done = subprocess.run([sys.executable, "-m", words[0], *(str(word).replace("SETTINGS", str(settings)) for word in words[1:])],
                          capture_output=True, text=True, check=False, cwd=tool.folder,
                          env={**os.environ, "PYTHONPATH": package, "MYPYPATH": package})
    assert done.returncode == 0, done.stdout + done.stderr


@case
def stubs_agree_with_the_module(tool):
    """Every name, every parameter, every default."""
    allowed = tool.write("allowed", ALLOWED + "\n")
    mypy(tool, "mypy.stubtest", "trackway", "--concise", "--ignore-unused-allowlist", "--allowlist", allowed,
         "--mypy-config-file", "SETTINGS")


@case
def the_guide_fits_the_hints(tool):
    text = (ROOT / "docs" / "python.md").read_text()
    code = "\n".join(re.findall(r"^```python\n(.*?)^```", text, re.S | re.M))
    # What is untyped there is so for people.
    mypy(tool, "mypy", "--config-file", "SETTINGS", "--allow-untyped-defs", "--allow-untyped-calls", "--no-warn-return-any",
         tool.write("guide.py", code))


@case
def everything_says_what_it_does(tool):
    """help() is useful: each public name has a text, and C functions have signatures."""
    for name in trackway.__all__:
        value = getattr(trackway, name)
        if callable(value):
            assert (value.__doc__ or "").strip(), name
    for holder in (trackway._core, *(value for value in vars(trackway._core).values() if inspect.isclass(value))):
        for name, value in vars(holder).items():
            if name.startswith("__") or not (inspect.isbuiltin(value) or inspect.ismethoddescriptor(value)):
                continue
            assert (value.__doc__ or "").strip(), (holder, name)
            inspect.signature(value)
    equal(str(inspect.signature(trackway.frame)), "(streams, framing='memory', /)")
    equal(str(inspect.signature(trackway.Unit))[:24], "(protocol, image=None, r")
