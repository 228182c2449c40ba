"""The documents that the fakes hold, and how they are found: by words (BM25) and by vectors (cosine).

Vectors count words by a hash, and words of one meaning count as one word. The fake of embeddings remembers the text of
each vector that it makes, so that a fake which gets a vector knows its query."""
import math
import re
import struct
import threading
import zlib

DIMENSIONS = 64
SYNONYMS = {"feline": "cat", "kitten": "cat", "automobile": "car", "vehicle": "car"}

DOCUMENTS = [
    {"id": "d-1", "title": "Backups", "url": "https://docs.example.org/backups", "lang": "en", "updated": "2031-01-05T09:00:00Z",
     "content": "Backups of the database are kept for 35 days. A weekly copy is kept for one year."},
    {"id": "d-2", "title": "Restoring a backup", "url": "https://docs.example.org/restore?utm_source=list#steps", "lang": "en",
     "updated": "2031-02-01T00:00:00Z", "content": "To restore a backup, stop the service, copy the file and start it again."},
    {"id": "d-3", "title": "旅費規程", "url": "https://kb.example.jp/ryohi", "lang": "ja", "updated": "2030-04-01T00:00:00Z",
     "content": "出張旅費の上限は一泊12,000円です。領収書は出張から30日以内に提出してください。"},
    {"id": "d-4", "title": "Tide table", "url": "https://port.example.jp/tide", "lang": "en", "updated": "2031-01-05T09:00:00Z",
     "content": "High water at the harbour is at 06:12 and 18:40."},
    {"id": "d-5", "title": "The cat", "url": "https://animals.example.net/cat", "lang": "en", "updated": "2029-07-07T00:00:00Z",
     "content": "The cat sleeps on the mat for sixteen hours a day."},
    {"id": "d-6", "title": "Write-ahead log", "url": "https://docs.example.org/wal", "lang": "en", "updated": "2030-12-24T00:00:00Z",
     "content": "The log of the database grows until a checkpoint copies its pages."},
    {"id": "d-7", "title": "Petrol", "url": "https://cars.example.net/petrol", "lang": "en", "updated": "2030-10-10T00:00:00Z",
     "content": "A car needs 6 litres of petrol for 100 kilometres."},
    {"id": "d-8", "title": "バックアップの保存期間", "url": "https://kb.example.jp/backup", "lang": "ja", "updated": "2031-03-03T00:00:00Z",
     "content": "データベースのバックアップは35日間保存されます。"},
]


def words(text):
    """Words of Latin letters and digits, and pairs of neighbouring characters of other scripts."""
    found = []
    for run in re.findall(r"[a-z0-9]+|[^\x00-\x7f\s、。]+", text.lower()):
        if run[0] <= "\x7f":
            run = run[:-1] if run.endswith("s") and len(run) > 3 else run
            found.append(SYNONYMS.get(run, run))
        else:
            found += [run[i:i + 2] for i in range(max(1, len(run) - 1))]
    return found


def plain_words(text):
    """Without the synonyms: a search by words does not know them."""
    return [word for word in words(" ".join(part if part.lower() not in SYNONYMS else "" for part in text.split()))]


def vector(text):
    """As a model of embeddings makes them: unit length, 32-bit floats."""
    counts = [0.0] * DIMENSIONS
    for word in words(text):
        counts[zlib.crc32(word.encode()) % DIMENSIONS] += 1.0
    length = math.sqrt(sum(value * value for value in counts)) or 1.0
    return struct.unpack(f"<{DIMENSIONS}f", struct.pack(f"<{DIMENSIONS}f", *(value / length for value in counts)))


class Corpus:
    def __init__(self):
        self.lock = threading.Lock()
        self.made = {}  # vector: text
        self.replace(DOCUMENTS)

    def replace(self, documents):
        with self.lock:
            self.documents = [dict(document) for document in documents]

    def embed(self, text):
        made = vector(text)
        with self.lock:
            self.made[made] = text
        return made

    def text_of(self, numbers):
        """The text whose vector this is, or None. The numbers are rounded as the wire has them."""
        packed = struct.unpack(f"<{len(numbers)}f", struct.pack(f"<{len(numbers)}f", *numbers))
        with self.lock:
            return self.made.get(packed)

    def by_words(self, query, keep=lambda document: True):
        """[(score, document)], best first, those that share a word with the query."""
        texts = [(document, plain_words(document["title"]) * 2 + plain_words(document["content"])) for document in self.documents]
        average = sum(len(text) for _, text in texts) / max(1, len(texts))
        found = []
        for document, text in texts:
            score = 0.0
            for word in set(plain_words(query)):
                holding = sum(1 for _, other in texts if word in other)
                often = text.count(word)
                rarity = math.log(1 + (len(texts) - holding + 0.5) / (holding + 0.5))
                score += rarity * often * 2.2 / (often + 1.2 * (0.25 + 0.75 * len(text) / average))
            if score > 0.3 and keep(document):
                found.append((score, document))
        return sorted(found, key=lambda pair: -pair[0])

    def by_vector(self, numbers, k, keep=lambda document: True):
        """[(cosine, document)], nearest first."""
        found = [(sum(a * b for a, b in zip(numbers, vector(document["title"] + " " + document["content"]))), document)
                 for document in self.documents if keep(document)]
        return sorted(found, key=lambda pair: -pair[0])[:k]


def fused(*lists, constant=60):
    """By rank (RRF): [(score, document)]."""
    scores, documents = {}, {}
    for hits in lists:
        for rank, (_, document) in enumerate(hits, 1):
            scores[document["id"]] = scores.get(document["id"], 0) + 1 / (constant + rank)
            documents[document["id"]] = document
    return sorted(((score, documents[name]) for name, score in scores.items()), key=lambda pair: -pair[0])


CORPUS = Corpus()
