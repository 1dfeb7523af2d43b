"""The models that are configured on this machine: their keys, their backends, and which is asked.

Settings say what there is (`local_agent.settings`), the keystore has the keys; `keys` reads those,
and `registry`, which the rest of the agent asks, makes backends of the settings.

What a backend is asked and gives back stands in `backend`, and what a failure means in `faults`.
`http` is a model behind an OpenAI-compatible interface; `codex` and `acp` are coding agents, which
are spoken with by `jsonrpc` and followed by `turns`.
"""
