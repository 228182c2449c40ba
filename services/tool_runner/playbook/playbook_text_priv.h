/* Shared by the readers of both formats. Private to playbook_text*.c. */
#ifndef RENGA_TOOL_RUNNER_PLAYBOOK_TEXT_PRIV_H
#define RENGA_TOOL_RUNNER_PLAYBOOK_TEXT_PRIV_H

#include "playbook/playbook.h"
#include "playbook/playbook_text.h"

#define PLAYBOOK_SHOWN_MAX 60 /* bytes of a wrong text that its problem shows */

/* A reading of either format. */
struct playbook_reading {
    struct arena *arena;
    struct playbook_text *out;
    const char *unit; /* "line" or "bullet": the unit of `number` */
    int32_t number;   /* of the line or bullet in hand */
    size_t bullet_room;
    struct playbook_id_slot {
        const char *id; /* NULL: free */
        int32_t number;
    } * ids; /* PLAYBOOK_ID_SLOTS */
};
#define PLAYBOOK_ID_SLOTS 32768 /* a power of 2, above twice PLAYBOOK_BULLETS_MAX */

/* Records a problem of the current line or bullet. Always false. */
bool playbook_problem(struct playbook_reading *reading, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Checks the bounds of a bullet and that its id is new, and keeps it. `bullet` and its texts are the arena's. */
bool playbook_reading_add(struct playbook_reading *reading, Renga__V1__Bullet *bullet);

bool playbook_lines_read(struct playbook_reading *reading, const char *text, size_t length);
bool playbook_json_read(struct playbook_reading *reading, const char *text, size_t length, struct status *st);
void playbook_json_write(struct buffer *out, const char *dataset, int64_t revision, Renga__V1__Bullet *const *bullets,
                         size_t count);

/* The offset behind the white space at `at`, and the end of a text without the white space at its end. White space is
 * that of Unicode, as the reference's `\s` and `strip` have it. */
size_t playbook_skip_space(const char *text, size_t length, size_t at);
size_t playbook_trim_end(const char *text, size_t length);

#endif
