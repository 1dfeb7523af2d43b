"""The desktop dialog: a program of its own that shows one question and writes one answer.

`wire` is what agent and window say to each other, `program` starts it, `child` is that program.
What it says is in `page`; when a decision counts in `arming` and `hands`; how it looks in `look`
and `panes`.  `wire`, `arming`, `page` and `program` need no Tk.
"""
