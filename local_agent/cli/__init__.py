"""The agent's subcommands: those that act on one thing share a module.

Each module offers ``add_parser(subparsers, lang)``, which declares its subcommands and sets ``run``
of each.  They speak to the running agent over its control socket
(`local_agent.faces.control.client`) and import what they need when they run, so that the quick ones
stay quick.
"""
