"""What all seed models share: frozen, closed, camelCase outside."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class SeedModel(BaseModel):
    """A value with the seed's field names as aliases."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        populate_by_name=True,
        alias_generator=to_camel,
        hide_input_in_errors=True,
    )

    def to_json(self) -> str:
        """Return the JSON text with the seed's names; absent optional fields stay absent."""
        return self.model_dump_json(by_alias=True, exclude_none=True)

    def to_dict(self) -> dict[str, object]:
        """Return plain JSON values with the seed's names."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)
