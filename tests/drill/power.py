"""What a disk holds after its power was cut, from the journal of power.c: what was synced, and of the rest nothing, or what
chance spared, down to sectors. A file that was made or taken away is so for certain only when its folder was synced. Of a
file that only grows (Redis' log) a beginning is spared: so file systems leave it that order data before sizes, and only of
such an end does Redis rid itself; of a torn one, redis-check-aof."""
import os
import random
import struct

HEAD = struct.Struct("<qIHBB")
SECTOR = 512


class File:
    def __init__(self, path="", content=b""):
        self.grows = path.endswith(".aof")
        self.safe, self.waiting = bytearray(content), []  # changes that are not synced: (number, offset, bytes or None to cut)

    def settle(self, before):
        """What came before that place of the journal is safe."""
        while self.waiting and self.waiting[0][0] < before:
            apply(self.safe, *self.waiting.pop(0)[1:])

    def after_a_cut(self, spares):
        content = bytearray(self.safe)
        if self.grows and spares:
            for _, at, data in self.waiting:
                apply(content, at, data)
            return content[:random.randint(min(len(self.safe), len(content)), len(content))]
        for _, at, data in self.waiting if spares else ():
            if data is None or random.random() < 0.5:
                if random.random() < 0.5:
                    apply(content, at, data)
                continue
            for start in range(0, len(data), SECTOR):  # torn
                if random.random() < 0.5:
                    apply(content, at + start, data[start:start + SECTOR])
        return content


def apply(content, at, data):
    if data is None:
        content[at:] = bytes(max(0, at - len(content)))
        return
    if at > len(content):
        content.extend(bytes(at - len(content)))
    content[at:at + len(data)] = data


class Disk:
    """The files of a folder, all of them safe at first."""

    def __init__(self, folder):
        self.folder, self.names, self.renamings = folder, {}, []  # renamings: (number, path, file or None)
        for name in os.listdir(folder):
            path = os.path.join(folder, name)
            if os.path.isfile(path) and not name.endswith("-shm"):
                with open(path, "rb") as file:
                    self.names[path] = File(path, file.read())
        self.now = dict(self.names)  # as a process sees them
        self.syncs = 0

    def play(self, journal):
        with open(journal, "rb") as file:
            text = file.read()
        opened, began, at, number = {}, {}, 0, 0
        while at + HEAD.size <= len(text):
            where, size, fd, record, _ = HEAD.unpack_from(text, at)
            data = text[at + HEAD.size:at + HEAD.size + size]
            at += HEAD.size + size
            if len(data) < size:
                break  # the process was killed while it wrote this
            number += 1
            self.play_one(chr(record), where, fd, data, opened, began, number)

    def play_one(self, record, where, fd, data, opened, began, number):
        path, file = opened.get(fd, (None, None))
        if record == "N":
            path = data.decode()
            if path == self.folder:
                opened[fd] = path, File()
                return
            if where or path not in self.now:
                self.now[path] = File(path)
                self.renamings.append((number, path, self.now[path]))
            opened[fd] = path, self.now[path]
        elif record == "U":
            self.now.pop(data.decode(), None)
            self.renamings.append((number, data.decode(), None))
        elif record == "b":
            began[where] = number
        elif record == "e":
            self.syncs += 1
            file.settle(began.get(where, 0))
            if path == self.folder:
                self.settle_names(began.get(where, 0))
        else:
            change = data if record == "W" else bytes(int.from_bytes(data, "little")) if record == "Z" else None
            file.waiting.append((number, where, change))

    def settle_names(self, before):
        while self.renamings and self.renamings[0][0] < before:
            self.rename(self.names, *self.renamings.pop(0)[1:])

    @staticmethod
    def rename(names, path, file):
        if file is None:
            names.pop(path, None)
        else:
            names[path] = file

    def cut(self, spares):
        """Writes into the folder what is left. `spares`: chance keeps some of what was not synced."""
        names = dict(self.names)
        for change in self.renamings[:random.randint(0, len(self.renamings)) if spares else 0]:
            self.rename(names, *change[1:])
        for name in os.listdir(self.folder):
            path = os.path.join(self.folder, name)
            if os.path.isfile(path):
                os.unlink(path)
        waiting = 0
        for path, file in names.items():
            waiting += len(file.waiting)
            with open(path, "wb") as out:
                out.write(file.after_a_cut(spares))
            os.chmod(path, 0o600)
        return waiting
