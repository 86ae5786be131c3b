"""What governs now: the policy in force, all that is made of it, and how one takes the place of another.

`governed.py` is everything of this process that depends on the policy, in one frozen value; `in_force.py` the one
mutable place that holds it, which each request reads once; `succession.py` follows the history and changes it, and
`shade.py` asks what a policy that is only tried would have done. A request finishes under the policy it began with,
whatever is put in force meanwhile, and no text of a policy takes a running gateway down: one that cannot be obeyed
leaves the last good one where it is.
"""
