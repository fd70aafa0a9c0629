"""Pages in HTML, from templates that lie in a package."""

from typing import TYPE_CHECKING

from bocu.core.loading import naming_extras

if TYPE_CHECKING:
    import jinja2


def page_template(package: str, name: str) -> "jinja2.Template":
    """Return a template in which text is escaped, and a name that is not given is an error.

    Args:
        package: whose folder `templates` holds it, such as "bocu.pages.report".
        name: of the file.
    """
    with naming_extras():
        import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(package, "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    return environment.get_template(name)
