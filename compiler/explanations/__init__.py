"""The pages of messages, `Cnnn.md` for each code, which `collc explain` prints."""
