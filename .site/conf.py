"""Settings of the documentation site; `python .site`, which has this folder on its path, builds it."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

import numpydoc.xref
from docutils import nodes
from reference import HOMES
from sphinx import addnodes
from sphinx.transforms import SphinxTransform

import tokdfa

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

project = "tokdfa"
version = release = tokdfa.__version__
project_copyright = "The tokdfa developers, MIT licence"

# The whole repository is the source, so that a link between two of these pages is the same here and in a file browser.
root_doc = "notebooks/index"
include_patterns = ["notebooks/**", "tests/paper/README.md", "figures/README.md", "CHANGELOG.md"]
exclude_patterns = ["**/.ipynb_checkpoints"]

extensions = ["myst_nb", "numpydoc", "sphinx.ext.autodoc"]

# Pages and notebooks: what is stored is shown, nothing is run.
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 4
nb_execution_mode = "off"
nb_ipywidgets_js: dict[str, Any] = {}

# The reference
default_role = "py:obj"
autodoc_default_options = {"show-inheritance": True, "member-order": "bysource"}
autodoc_typehints = "signature"
python_use_unqualified_type_names = True
numpydoc_show_class_members = False
add_module_names = False
toc_object_entries_show_parents = "hide"

# An annotation that is imported for type checkers alone may name one of several classes.
suppress_warnings = ["ref.python"]

html_theme = "furo"
html_title = "tokdfa"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = [("site.js", {"defer": "defer"})]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"


# Types in docstrings are linked where they are public names.
numpydoc_xref_param_type = True
numpydoc_xref_ignore = "all"
numpydoc.xref.DEFAULT_LINKS.clear()  # these lead to other sites
numpydoc_xref_aliases = {name: f"{home}.{name}" for name, home in HOMES.items()}


class LinkPublicNames(SphinxTransform):
    """Make `tokdfa.validate(...)` in a sentence of a page a link to its place in the reference."""

    default_priority = 400

    def apply(self, **_: Any) -> None:
        """Put a reference around each literal that begins with a name of the package."""
        for literal in list(self.document.findall(nodes.literal)):
            name = re.match(r"tokdfa(?:\.\w+)+", literal.astext())
            if name is None or isinstance(literal.parent, nodes.reference | addnodes.pending_xref):
                continue
            link = addnodes.pending_xref("", refdomain="py", reftype="obj", reftarget=name[0], refwarn=False)
            literal.replace_self(link)
            link += literal


def resolve_public_name(
    app: Sphinx, env: BuildEnvironment, node: addnodes.pending_xref, content: nodes.Element
) -> nodes.Element | None:
    """Find a public name, such as `tokdfa.TokenDFA` or `TokenDFA.trim`, in the module that has it."""
    name, _, member = node.get("reftarget", "").removeprefix("tokdfa.").partition(".")
    if node.get("refdomain") != "py" or name not in HOMES:
        return None
    target = ".".join([HOMES[name], name, *filter(None, [member])])
    return env.domains["py"].resolve_xref(env, node["refdoc"], app.builder, "obj", target, node, content)


def settle_types(app: Sphinx, document: nodes.document) -> None:
    """Let an annotation mean what its module means by it, where several classes have that name."""
    for node in document.findall(addnodes.pending_xref):
        name, module = node.get("reftarget", ""), node.get("py:module")
        if node.get("refdomain") == "py" and "." not in name and module is not None:
            home = getattr(getattr(sys.modules.get(module), name, None), "__module__", HOMES.get(name))
            if home is not None and home.startswith("tokdfa"):
                node["reftarget"] = f"{home}.{name}"


def skip_aliases(app: Sphinx, what: str, name: str, item: object, skip: bool, options: object) -> bool | None:
    """Leave out what Python writes of the fields of a named tuple: their number."""
    return True if (getattr(item, "__doc__", None) or "").startswith("Alias for field number") else None


def make_plain(app: Sphinx, what: str, name: str, item: object, options: object, lines: list[str]) -> None:
    """Let |Q|, the number of elements of Q, be what it is to mathematicians, not a substitution of reStructuredText."""
    is_code = False
    for number, line in enumerate(lines):
        is_code = line.strip() != "" and (is_code or line.lstrip().startswith(">>>"))
        if not is_code:
            parts = re.split(r"(`+[^`]*`+)", line)
            lines[number] = "".join(part if part.startswith("`") else part.replace("|", r"\|") for part in parts)


def setup(app: Sphinx) -> None:
    """Register the functions above with Sphinx."""
    app.add_transform(LinkPublicNames)
    app.connect("doctree-read", settle_types)
    app.connect("missing-reference", resolve_public_name)
    app.connect("autodoc-skip-member", skip_aliases)
    # After numpydoc, which asks for 500.
    app.connect("autodoc-process-docstring", make_plain, priority=900)
