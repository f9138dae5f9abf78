"""What a model is shown: chosen, composed under a budget, rendered, with a receipt; and a whole turn."""
