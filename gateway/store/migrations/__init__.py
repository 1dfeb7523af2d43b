"""The history of the schema, for Alembic: expand first, contract a release later."""
