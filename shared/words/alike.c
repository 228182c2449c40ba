#include "words/alike.h"

#include "words/evidence.h"

#include <pthread.h>
#include <string.h>

#define ALIKE_SLOTS 2048 /* a power of 2, more than twice the words of the rows */

struct alike {
    uint64_t hash, first; /* 0: the slot is free */
};

static struct alike alike_slots[ALIKE_SLOTS];
static pthread_once_t alike_once = PTHREAD_ONCE_INIT;

static struct alike *alike_slot(uint64_t hash)
{
    size_t at = (size_t)hash & (ALIKE_SLOTS - 1);
    while (alike_slots[at].hash != 0 && alike_slots[at].hash != hash)
        at = (at + 1) & (ALIKE_SLOTS - 1);
    return &alike_slots[at];
}

static void alike_read_row(const char *row)
{
    uint64_t first = 0;
    for (size_t length; *row; row += length + (row[length] == ' ')) {
        length = strcspn(row, " ");
        const char *equal = memchr(row, '=', length), *stem = equal ? equal + 1 : row;
        uint64_t hash = term_hash(stem, (size_t)(row + length - stem));
        struct alike *slot = alike_slot(hash);
        first = first == 0 ? hash : first;
        if (slot->hash == 0)
            *slot = (struct alike){.hash = hash, .first = first};
    }
}

static void alike_fill(void)
{
    for (size_t i = 0; alike_rows[i]; i++)
        alike_read_row(alike_rows[i]);
}

uint64_t alike_hash(uint64_t hash)
{
    pthread_once(&alike_once, alike_fill);
    const struct alike *slot = alike_slot(hash);
    return slot->hash ? slot->first : hash;
}
