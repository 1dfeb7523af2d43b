"""Models behind an OpenAI-compatible HTTP interface: Responses and Chat Completions.

`backend` is the whole of it in one screen: a question is put into one of the two `dialects`,
carried by `client`, its answer taken in by `answers`, and, where edits are wanted, turned into
`edits` of the scratch copy.  `client` is imported with the first question, and aiohttp with it.
"""
