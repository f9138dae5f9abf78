"""The TypeScript client, compiled and run by Node against a real server: `make test-typescript`."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from everword.testing import ScriptedLLM
from everword.testing.serving import Serving

CLIENT = Path(__file__).parents[2] / "clients" / "typescript"
COMPILER = Path(os.environ["EVERWORD_TEST_TYPESCRIPT"]) / "node_modules" / ".bin" / "tsc"
REPLIES = ["You live in Oslo.", "In Norway.", "There is more to tell than fits here."]


def compile_client(folder: Path) -> None:
    """Compile the client, with the example of its README as a program that uses it."""
    (example,) = re.findall(r"```ts\n(.*?)```", (CLIENT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    source = folder / "source"
    source.mkdir()
    (source / "everword.ts").write_bytes((CLIENT / "everword.ts").read_bytes())
    declared = "declare const process: { env: Record<string, string>; stdout: { write(text: string): void } };\n"
    (source / "example.ts").write_text(declared + example, encoding="utf-8")
    (source / "package.json").write_text('{"type": "module"}')
    settings = (CLIENT / "tsconfig.json").read_text(encoding="utf-8")
    (source / "tsconfig.json").write_text(settings.replace('["everword.ts"]', '["everword.ts", "example.ts"]'))
    subprocess.run([COMPILER, "-p", source, "--outDir", folder / "dist"], check=True)
    (folder / "dist" / "package.json").write_text('{"type": "module"}')


def test_the_client_does_what_it_says(tmp_path: Path) -> None:
    compile_client(tmp_path)
    with Serving(str(tmp_path / "memory.db"), auth=True, chat=ScriptedLLM(REPLIES, chunk=5)) as server:
        values = {
            "EVERWORD_TEST_URL": server.url,
            "EVERWORD_TEST_KEY": server.key(scopes=("read", "write")),
            "EVERWORD_TEST_CLIENT": str(tmp_path / "dist" / "everword.js"),
        }
        subprocess.run(["node", "--test", CLIENT / "test.mjs"], env=os.environ | values, check=True, timeout=120)
