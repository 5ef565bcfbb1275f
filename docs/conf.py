"""Sphinx: python -m sphinx -W -b html docs OUT"""
import pathlib
import shutil
import sys


HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

project = "pyjitc"
copyright = "the pyjitc developers"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.viewcode"]
exclude_patterns = ["examples", "generated"]
html_theme = "furo"
html_title = "pyjitc"
html_static_path = ["static"]
html_css_files = ["pages.css"]
html_copy_source = False
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_class_signature = "mixed"
python_maximum_signature_line_length = 90
pygments_style = "default"
default_role = "code"
pygments_dark_style = "monokai"


def setup(app):
    import stages  # of this folder, with the package of the tree

    app.connect("builder-inited", lambda app: stages.write(HERE / "generated"))
    app.connect("build-finished", lambda app, error: shutil.rmtree(HERE / "generated"))
