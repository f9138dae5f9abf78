"""What commands share: options, opening a store, tables, progress, and how it ends."""
