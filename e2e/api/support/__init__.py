"""What the suite is put together from. Standard library only; nothing here knows the program's source."""
