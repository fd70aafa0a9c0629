"""The command line, one module a command; each imports what it needs when it is called.

May import everything.
"""
