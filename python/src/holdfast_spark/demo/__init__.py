"""`holdfast demo`: a streaming query on real data, killed, resumed and checked against batch."""
