"""The judges of streams: each decides for one kind of tokenizer where a stream is not canonical."""
