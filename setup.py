"""Builds the package as setup.cfg describes it, with the templates compiled."""

import runpy
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class WithCompiledTemplates(build_py):
    """As setuptools does it; the Python of the templates becomes part of the package."""

    def run(self) -> None:
        """Build what there is, then make the rest, beside the sources where those are installed."""
        super().run()
        source = Path("templates")
        target = source if self.editable_mode else Path(self.build_lib, "collc", "templates")
        compile_all = runpy.run_path("compiler/emit/templates.py")["compile_all"]
        compile_all(source, target / "compiled")


setup(cmdclass={"build_py": WithCompiledTemplates})
