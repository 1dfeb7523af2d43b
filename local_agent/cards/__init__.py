"""What an approver sees of each action, as values: no layout, and no language chosen."""
