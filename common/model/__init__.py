"""The seed's data shapes (seed 002 §3, §6, §7): its field names outside, snake_case in Python.

Pure.  Pydantic in `intent` and `proposal`, because they cross edges: wire, files, page.
"""
