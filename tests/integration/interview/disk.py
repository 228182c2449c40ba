#!/usr/bin/env python3
"""What a waiting session takes of the store's file: the whole file is counted, after the log has gone into it."""
import os

from desk import Desk, expect, folder, form
from checks import check, finish

SESSIONS = 150
MOST = 8 << 10  # bytes a session
FORM = form("name:TEXT!", "mail:EMAIL!", "age:NUMBER!", "day:DATE!", "city:TEXT!", "phone:PHONE", "time:TIME", "note:TEXT")
LINES = ("Ada Lovelace", "ada@example.com", "36", "2027-04-01")
KNOWN = {"language": "en", "country": "JP", "timezone": "Asia/Tokyo"}


def left_by(sessions):
    """Bytes that they leave on disk after four answers each; a caller gives each session an answer before the next one."""
    name = f"disk-{sessions}.db"
    desk = Desk(store=f"sqlite:{folder}/{name}")
    begun = [desk.start(FORM, **KNOWN).session_id for _ in range(sessions)]
    for line in LINES:
        for session in begun:
            last = desk.answer(session, line)
    expect(last.awaiting_user_response, "the last session does not wait")
    desk.stop()
    expect(not os.path.exists(f"{folder}/{name}-wal"), "the log is still there")
    return os.path.getsize(f"{folder}/{name}")


@check("a session of eight fields that waits takes at most 8 KiB of disk")
def _():
    fixed = left_by(1)  # the agent's document, and the tables
    each = (left_by(SESSIONS) - fixed) / (SESSIONS - 1)
    expect(each <= MOST, f"a waiting session takes {each:.0f} bytes, more than {MOST}")
    return f"{each:.0f} bytes"


finish()
