"""What commands share: options, opening a store, tables, progress bars, and errors."""
