"""What everything stands on.

Errors, domains, typed parameters, random streams, loading by name, the types that problems and algorithms share, the
look of lines and pages, and `io`: files, hashes, provenance.
Imports nothing else of the package.
"""
