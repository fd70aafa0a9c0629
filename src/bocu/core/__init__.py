"""What everything stands on.

Errors, domains, typed parameters, random streams, loading by name, and the types that problems and algorithms share.
Imports nothing else of the package.
"""
