"""How an item is asked: formats, orders, interfaces, prompts, designs and plans."""
