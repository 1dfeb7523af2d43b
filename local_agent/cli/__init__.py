"""The agent's subcommands, one module each: ``add_parser(subparsers, lang)`` and ``run(...)``.

They speak to the running agent over its control socket (`local_agent.faces.control.client`) and
import what they need when they run, so that the quick ones stay quick.
"""
