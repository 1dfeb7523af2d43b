"""How WeCom speaks: crypto, XML, messages, API.  Decides nothing about what is said."""
