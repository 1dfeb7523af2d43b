"""What can be wrong with an installation of the agent, looked at one by one (`common.doctor`).

``installation`` is what is looked at, ``machine``, ``own`` and ``gateway`` look, ``checks`` is the
list, ``diagnoses`` says what a finding means.  ``report`` is what a person can send to somebody who
helps.  Nothing here changes anything but by a `Fix` that a person has agreed to.
"""
