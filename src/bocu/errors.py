"""The one exception that means: the user's input is at fault, and here is the line to show."""


class BocuError(Exception):
    """A fault in configuration, data or arguments, told in one line.

    The message names the file or argument, the key, what was found and what is allowed. Command line and workflow
    scripts print it without a traceback and exit with a non-zero status.
    """
