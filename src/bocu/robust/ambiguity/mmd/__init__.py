"""The MMD set: Gram matrices, the critical-line path and its compiled inner loops.

Imports what `ambiguity` may.
"""
