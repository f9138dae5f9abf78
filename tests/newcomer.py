"""What a newcomer does in the first minutes, in an empty environment: install the wheel that is built from the built
sdist and is file by file the one of the checkout, `init`, the README's example, `ask`, and the dashboard. It needs
pip's index (or its cache), so it is not part of the suite: `make newcomer`.

python tests/newcomer.py
"""

from __future__ import annotations

import os
import re
import resource
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from zipfile import ZipFile

ROOT = Path(__file__).parents[1]
EXAMPLE = re.compile(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```", re.MULTILINE | re.DOTALL)
MOST_SECONDS = 60  # of the processor, with packages cached
PATIENCE = 120.0  # seconds until the dashboard answers


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        visit(Path(folder))
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = used.ru_utime + used.ru_stime
    print(f"In all {seconds:.1f} s of the processor; {MOST_SECONDS} is the aim, with packages cached.")


def visit(folder: Path) -> None:
    home = folder / "home"
    home.mkdir()
    python = folder / "env" / "bin" / "python"
    command = str(python.with_name("everword"))
    with step("build the sdist and the wheel"):
        sdist, wheel_of_checkout = build(folder / "checkout")
    with step("build the wheel from the sdist"):
        run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(sdist))
    (wheel,) = folder.glob("everword-*.whl")
    assert packed_files(wheel) == packed_files(wheel_of_checkout)
    with step("make an empty environment"):
        run(sys.executable, "-m", "venv", str(folder / "env"))
    with step("install the wheel"):
        run(str(python), "-m", "pip", "install", "--quiet", str(wheel))
    with step("everword init"):
        run(command, "init", "--yes", cwd=home)
        assert (home / "everword.toml").exists()
    with step("the README's example"):
        example = EXAMPLE.search((ROOT / "README.md").read_text(encoding="utf-8"))
        assert example is not None
        code, shown = example.groups()
        printed = run(str(python), "-c", code, cwd=home)
        assert printed == shown, printed
    with step("everword ask"):
        answer = run(command, "ask", "Where does Alex live?", "--user", "alex", cwd=home)
        assert "Delft" in answer, answer
    with step("install the server"):
        run(str(python), "-m", "pip", "install", "--quiet", f"{wheel}[server]")
    with step("the dashboard"):
        assert "<html" in first_page(command, home)


def build(folder: Path) -> tuple[Path, Path]:
    """The sdist and the wheel of the checkout, by the build backend that pyproject.toml names."""
    backend = folder / "backend"
    run(sys.executable, "-m", "pip", "install", "--quiet", "--target", str(backend), "hatchling")
    command = ("-m", "hatchling", "build", "--directory", str(folder))
    run(sys.executable, *command, cwd=ROOT, variables={"PYTHONPATH": str(backend)})
    (sdist,) = folder.glob("everword-*.tar.gz")
    (wheel,) = folder.glob("everword-*.whl")
    return sdist, wheel


def packed_files(wheel: Path) -> dict[str, int]:
    """The files of a wheel, each with its checksum."""
    with ZipFile(wheel) as archive:
        return {entry.filename: entry.CRC for entry in archive.infolist()}


@contextmanager
def step(name: str) -> Iterator[None]:
    started = time.monotonic()
    yield
    print(f"{time.monotonic() - started:6.1f} s  {name}", flush=True)


def run(*command: str, cwd: Path | None = None, variables: Mapping[str, str] = MappingProxyType({})) -> str:
    """What a program prints. What is set for everword here is not set there."""
    ran = subprocess.run(
        command, cwd=cwd, env={**environment(), **variables}, stdout=subprocess.PIPE, text=True, check=False
    )
    if ran.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with status {ran.returncode}:\n{ran.stdout}")
    return ran.stdout


def environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(("EVERWORD_", "PYTHONPATH"))}


def first_page(command: str, home: Path) -> str:
    """The dashboard's first page, from a server of its own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen([command, "serve", "--port", str(port)], cwd=home, env=environment())
    try:
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=PATIENCE) as page:
                    return str(page.read().decode())
            except (urllib.error.URLError, ConnectionError):
                if server.poll() is not None or time.monotonic() > deadline:
                    sys.exit("the server does not answer")
                time.sleep(0.1)
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
