"""The kit of our local web pages: who may ask, sessions, assets, and the components they share.

Python here knows HTTP and sessions and nothing of tasks; `static` holds the vendored libraries,
the style sheet and the modules that any of our pages is built from (docs/adr/0037).
"""
