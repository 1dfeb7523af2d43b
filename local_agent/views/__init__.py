"""What faces show, as values: no layout, no language chosen; and their one form as JSON."""
