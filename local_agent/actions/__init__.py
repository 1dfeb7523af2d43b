"""One folder for each thing that a person approves, by the seal's word for it (CONTRIBUTING)."""
