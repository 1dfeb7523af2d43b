"""The desktop dialog: a program of its own that shows one question and writes one answer.

`wire` is what agent and window say to each other, `program` starts it, `child` is its beginning;
the rest is what it looks like (`page`, `look`, `panes`, `frame`) and when a decision counts
(`arming`, `hands`).  Only `child`, `look`, `panes`, `frame`, `hands` and `desktop_hint` need Tk.
"""
