"""What tests of playbooks hold against each other."""
import hashlib

from runner import expect


def equal(got, wanted, what="it"):
    expect(got == wanted, f"{what}: {got!r}, not {wanted!r}")


def saying(*what):
    """A content that resembles no other."""
    return hashlib.sha256(repr(what).encode()).hexdigest()


def history_is_consistent(client, dataset):
    """Each change begins where the one before it ended, and the last ends with what is there."""
    state = {}
    changes = list(reversed(client.changes(dataset, with_bullets=True)))
    equal([c.revision for c in changes], list(range(1, len(changes) + 1)), "the revisions")
    for change in changes:
        for bullet in change.bullets:
            id_ = (bullet.before if bullet.HasField("before") else bullet.after).id
            equal(state.pop(id_, None), bullet.before.SerializeToString(deterministic=True) if bullet.HasField("before") else None, f"{id_} before {change.revision}")
            if bullet.HasField("after"):
                state[id_] = bullet.after.SerializeToString(deterministic=True)
    equal(sorted(state.values()), sorted(client.state(dataset)), "what the changes lead to")
