"""The two main flows, in and out, and what the clock alone makes happen."""
