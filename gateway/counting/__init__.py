"""Count the tokens of a prompt before its provider does: the most it can be, what it probably is, and exactly.

Read `tally.py` first: what a request asks of this package.

* `bound.py` is what no prompt is above; invariants rest on it.
* `spelling.py` and `makeup.py` measure what a prompt is made of, `pictures.py` its pictures, whose size
  `picture_sizes.py` reads.
* `calibration.py` is what one model's tokenizer makes of such measures, learnt from settled usage, with its error;
  `calibrations.py` keeps that of every model, also over a restart.

Nothing here can fail a request: what cannot be counted is bounded.
"""
