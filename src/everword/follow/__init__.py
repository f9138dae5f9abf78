"""Views follow the log: cursors, leases, fairness, retries, what was set aside; and how a model is asked."""
