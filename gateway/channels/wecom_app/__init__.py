"""The self-built app of WeCom: messages by callback, answers by the active API."""
