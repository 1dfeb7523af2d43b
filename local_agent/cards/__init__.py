"""What an approver sees of any question; what is an action's alone is its card (`actions`)."""
