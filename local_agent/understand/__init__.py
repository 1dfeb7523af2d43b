"""From the words of a request to what it asks for."""
