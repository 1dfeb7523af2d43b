"""What the gateway remembers: one schema, plain functions on one connection, a runner per engine.

Nothing here waits on the network and nothing here knows a sentence for people.
"""
