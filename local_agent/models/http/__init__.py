"""Models behind an OpenAI-compatible HTTP interface: Responses and Chat Completions.

`backend` is the whole of it in one screen: a question is put into one of the two dialects
(`responses`, `chat`), carried by `client`, read by `sse` and the dialect's reader, and, where edits
are wanted, turned into edits of the scratch copy (`edit_form`).  `client` alone imports aiohttp,
which is slow to import, and is itself imported with the first question.
"""
