"""Starts children, and what holds them: warden, bubblewrap, seccomp, limits, toolchains."""
