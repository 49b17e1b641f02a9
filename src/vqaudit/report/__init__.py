"""What people see: the page, the charts, the terminal summary. Reads run directories and findings only."""
