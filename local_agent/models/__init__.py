"""The models that are configured on this machine: their keys, their backends, and which is asked.

Settings say what there is (`local_agent.settings`), the keystore has the keys; `keys` reads those,
`preparing` makes backends of the settings, `keyed` renews one whose key has changed, and `models`
is what the rest of the agent asks.
"""
