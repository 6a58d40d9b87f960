"""Builds the package as setup.cfg describes it, with templates compiled: templates/__init__.py."""

import runpy
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class WithCompiledTemplates(build_py):
    """As setuptools does it; the Python of the templates is part of the package."""

    def run(self) -> None:
        """Build what there is, then make the rest."""
        super().run()
        here = (
            Path("templates") if self.editable_mode else Path(self.build_lib, "collc", "templates")
        )
        runpy.run_path("templates/__init__.py")["compile_all"](here / "compiled")


setup(cmdclass={"build_py": WithCompiledTemplates})
