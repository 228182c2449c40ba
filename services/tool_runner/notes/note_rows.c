#include "note_rows.h"

#include "run/row_key.h"

static struct row_key key_of(const char *tenant, const char *thread, const char *run)
{
    struct row_key key = row_key_make('N', tenant, thread, run);
    if (run)
        row_key_append(&key, "", 1);
    return key;
}

void note_range(struct arena *arena, const char *tenant, const char *thread, const char *run, int32_t step_no,
                struct store_bytes *from, struct store_bytes *to)
{
    struct row_key key = key_of(tenant, thread, run);
    row_key_append_number(&key, step_no);
    *from = row_key_copy(arena, &key);
    row_key_append(&key, "", 1);
    *to = row_key_copy(arena, &key);
}

void notes_range(struct arena *arena, const char *tenant, const char *thread, const char *run, struct store_bytes *from,
                 struct store_bytes *to)
{
    struct row_key key = key_of(tenant, thread, run);
    row_key_range(arena, &key, from, to);
}
