"""What every part of the gateway stands on: settings and keys."""
