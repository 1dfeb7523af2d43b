"""The doors that WeCom knocks at: one internal message type comes out of each."""
