#include "words/variants_rows.h"

#include <assert.h>
#include <string.h>

static unsigned variants_rows_slot_of(uint32_t first, uint32_t second)
{
    uint32_t hash = (first * 31 + second) * 2654435761U;
    return hash >> 22 & (ROW_SLOTS - 1);
}

static void variants_rows_add_row(struct variant_rows *rows, const struct variant_row *row)
{
    assert(rows->count + 1 < ROWS_MAX && row->from_length > 0 && row->to_length <= row->from_length);
    if (rows->count + 1 >= ROWS_MAX || row->to_length > row->from_length)
        return; /* a run must not become longer */
    uint16_t *slot = &rows->slots[variants_rows_slot_of(row->from[0], row->from_length > 1 ? row->from[1] : 0)];
    rows->begins[row->from[0] / 64] |= UINT64_C(1) << row->from[0] % 64;
    rows->rows[rows->count] = *row;
    rows->rows[rows->count].next = *slot;
    *slot = (uint16_t)++rows->count;
}

void variant_rows_read(struct variant_rows *rows, const char *text)
{
    struct variant_row row = {0};
    bool to = false;
    size_t length = strlen(text);
    for (size_t at = 0, end; at <= length; at = end) {
        uint32_t code = at < length ? utf8_read(text, length, at, &end) : ' ';
        end = at < length ? end : length + 1;
        if (code == '=') {
            to = true;
        } else if (code == ' ') {
            if (row.from_length > 0)
                variants_rows_add_row(rows, &row);
            row = (struct variant_row){0};
            to = false;
        } else {
            uint8_t *count = to ? &row.to_length : &row.from_length;
            assert(*count < ROW_CHARACTERS);
            if (*count < ROW_CHARACTERS)
                (to ? row.to : row.from)[(*count)++] = (uint16_t)code;
        }
    }
}

static bool variants_rows_stands(const struct variant_row *row, const struct run_character *run, unsigned length,
                                 unsigned at)
{
    if (row->from_length > length - at)
        return false;
    for (unsigned i = 0; i < row->from_length; i++) {
        if (run[at + i].code != row->from[i])
            return false;
    }
    return true;
}

static const struct variant_row *find_in_slot(const struct variant_rows *rows, unsigned slot,
                                              const struct run_character *run, unsigned length, unsigned at)
{
    const struct variant_row *longest = NULL;
    for (unsigned next = rows->slots[slot]; next != 0; next = rows->rows[next - 1].next) {
        const struct variant_row *row = &rows->rows[next - 1];
        if (variants_rows_stands(row, run, length, at) && (longest == NULL || row->from_length > longest->from_length))
            longest = row;
    }
    return longest;
}

const struct variant_row *variant_rows_find(const struct variant_rows *rows, const struct run_character *run,
                                            unsigned length, unsigned at)
{
    const struct variant_row *found = NULL;
    if (!variant_rows_begin(rows, run[at].code))
        return NULL;
    if (at + 1 < length)
        found = find_in_slot(rows, variants_rows_slot_of(run[at].code, run[at + 1].code), run, length, at);
    return found != NULL ? found : find_in_slot(rows, variants_rows_slot_of(run[at].code, 0), run, length, at);
}

unsigned variant_rows_replace(const struct variant_rows *rows, struct run_character *run, unsigned length)
{
    unsigned written = 0;
    for (unsigned at = 0; at < length;) {
        const struct variant_row *row = variant_rows_find(rows, run, length, at);
        if (row == NULL) {
            run[written++] = run[at++];
            continue;
        }
        struct run_character last = run[at + row->from_length - 1];
        for (unsigned i = 0; i < row->to_length; i++) {
            struct run_character c = run[at + i];
            c.script = (uint8_t)script_of(row->to[i]);
            variants_put(run, &written, c, row->to[i]);
        }
        variants_drop(run, written, &last);
        at += row->from_length;
    }
    return written;
}
