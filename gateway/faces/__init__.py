"""What people and monitors use beside the chat: command line, health, bounds on every request."""
