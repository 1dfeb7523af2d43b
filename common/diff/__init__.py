"""Unified diffs: one reading of the bytes, used to show, to check and to apply.

`parse` turns bytes into a `DiffModel` or refuses them; `patching` computes what a file becomes.
Pure: which file is where, and whether it may be touched, is the workspace's matter.
"""
