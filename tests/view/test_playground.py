"""The playground in a browser (`make test-playground`), and how it is put together.

What needs the folder that `make playground` makes is skipped where there is none.
"""

from __future__ import annotations

import functools
import http.server
import importlib.util
import io
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import collc
from collc.driver.pipeline import compile_text
from collc.view import Scope, watched_run

ROOT = Path(__file__).parents[2]
BUILT = ROOT / "build/playground"
LOADED = 240_000  # milliseconds: Python and all packages, on a busy machine
LONG = """\
target wse2
param P = 64
grid row = P x 1
collective total = reduce(x: f32[8192], add) on row {
    reduce chain to 0
}
program { total }
"""


def module(name: str) -> ModuleType:
    """A module of playground/, which is no package."""
    spec = importlib.util.spec_from_file_location(name, ROOT / f"playground/{name}.py")
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


class Served(http.server.SimpleHTTPRequestHandler):
    """A folder, as any server of files would serve it."""

    def log_message(self, *words: object) -> None:
        """Nothing on the terminal of the tests."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Where the folder is served."""
    if not (BUILT / "packages.zip").is_file():
        pytest.skip("no playground: `make playground` builds it")
    handler = functools.partial(Served, directory=str(BUILT))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()


@pytest.fixture(scope="module")
def page(address: str, browser: Any) -> Iterator[Any]:
    """The playground when Python is there; nothing may have gone wrong in it, and nothing may have
    been asked of another server."""
    context = browser.new_context(viewport={"width": 1500, "height": 950})
    one = context.new_page()
    errors: list[str] = []
    requests: list[str] = []
    one.on("pageerror", lambda error: errors.append(str(error)))
    one.on("console", lambda said: said.type == "error" and errors.append(said.text))
    one.on("request", lambda request: requests.append(request.url))
    one.goto(address)
    answered(one)
    yield one
    assert errors == []
    assert [url for url in requests if not url.startswith((address, "blob:", "data:"))] == []
    context.close()


def run(page: Any, text: str) -> Any:
    """Run a text, and wait for the viewer's page of it, which is given back."""
    page.get_by_test_id("program").fill(text)
    page.get_by_test_id("run").click()
    return answered(page)


def answered(page: Any) -> Any:
    """The viewer's page, when the compiler has come to its end and the page is there."""
    page.locator('body[data-busy="false"]').wait_for(timeout=LOADED)
    page.locator("iframe.viewer[data-loaded]").wait_for(timeout=LOADED)
    frame = page.frame_locator("iframe.viewer")
    frame.locator("body[data-ready]").wait_for(timeout=LOADED)
    return frame


def number(where: Any, name: str) -> int:
    text = where.get_by_test_id(name).first.inner_text()
    return int(text.replace("\u2009", "").split()[0])


@pytest.mark.parametrize("name", ["two_phase", "allreduce_2d", "all_to_all", "program_mixed"])
def test_an_edited_program_has_the_numbers_of_the_command_line(name: str, page: Any) -> None:
    text = (ROOT / f"examples/{name}.coll").read_text()
    page.get_by_test_id("example").select_option(name)
    answered(page)
    edited = f"// edited\n{text}"
    frame = run(page, edited)
    bundle = compile_text(edited, f"{name}.coll", {})
    report = watched_run(bundle, 1, Scope()).report
    assert report is not None
    assert number(page, "predicted") == number(frame, "predicted") == bundle.prediction.cycles
    assert number(page, "simulated") == number(frame, "cycles") == report.cycles
    assert number(frame, "path-sum") == report.cycles
    frame.get_by_test_id("tab-motion").click()
    assert frame.locator(".empty:visible").count() == 0


def test_a_parameter_is_changed(page: Any) -> None:
    page.get_by_test_id("example").select_option("chain")
    answered(page)
    page.get_by_test_id("parameter-P").fill("9")
    page.get_by_test_id("parameter-P").press("Enter")
    answered(page)
    expected = collc.compile(ROOT / "examples/chain.coll", P=9)
    assert number(page, "predicted") == expected.prediction.cycles
    assert number(page, "simulated") == expected.run(seed=1).cycles


def test_a_fault_is_told_with_its_place_and_its_help(page: Any) -> None:
    page.get_by_test_id("program").fill("target wse2\nparam P = 4\nnonsense <img src=x>\n")
    page.get_by_test_id("run").click()
    finding = page.locator(".finding.error").first
    finding.wait_for(timeout=60_000)
    assert "3:1 C105" in finding.inner_text()
    assert page.locator(".numbers .marked").inner_text() == "3"
    assert page.locator(".findings img").count() == 0
    finding.click()
    selected = page.get_by_test_id("program").evaluate(
        "area => area.value.slice(area.selectionStart, area.selectionEnd)"
    )
    assert selected == "nonsense"


def test_a_long_run_is_stopped_and_the_page_goes_on(page: Any) -> None:
    page.get_by_test_id("program").fill(LONG)
    page.get_by_test_id("run").click()
    page.get_by_test_id("stop").click()
    page.get_by_test_id("status").get_by_text("ready").wait_for(timeout=LOADED)
    text = (ROOT / "examples/two_pes.coll").read_text()
    run(page, text)
    expected = collc.compile(ROOT / "examples/two_pes.coll").prediction.cycles
    assert number(page, "predicted") == expected


def test_rustc_s_words_for_emcc_become_those_of_llvm_s_linker() -> None:
    words = ["-s", 'EXPORTED_FUNCTIONS=["_PyInit_x","__end"]', "a.o", "b.rlib", "-o", "x.wasm"]
    words += ["-O3", "-fwasm-exceptions", "-sWASM_BIGINT", "-L", "/somewhere"]
    assert module("link").linker_words(words) == [
        "--export=PyInit_x",
        "--export=_end",
        "a.o",
        "b.rlib",
        "-o",
        "x.wasm",
    ]


def test_the_packages_are_complete_and_the_same_to_the_byte() -> None:
    build = module("build")
    files = build.python_files()
    for name in ("collc/grammar/coll.lark", "collc/view/viewer.html", "fabsim/__init__.py"):
        assert name in files
    assert not [name for name in files if name.endswith((".so", ".pyc"))]
    assert build.packed({"b": b"2", "a": b"1"}) == build.packed({"a": b"1", "b": b"2"})


def test_a_wheel_of_numpy_that_is_not_pyodide_s_is_refused(tmp_path: Path) -> None:
    build = module("build")
    (tmp_path / "pyodide-lock.json").write_text(
        '{"info": {"version": "0"}, "packages": {"numpy": {"file_name": "n.whl", "sha256": "00"}}}'
    )
    with pytest.raises(build.BuildError, match=r"has no n\.whl"):
        build.numpy_wheel(tmp_path, tmp_path)
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("deep/n.whl", "another")
    (tmp_path / "all.zip").write_bytes(data.getvalue())
    with pytest.raises(build.BuildError, match="not what Pyodide's lock file names"):
        build.numpy_wheel(tmp_path, tmp_path / "all.zip")
