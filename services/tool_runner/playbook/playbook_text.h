/* A playbook as text: the format of the ACE reference, and JSON (PlaybookFormat in playbook.proto). Pure: no store, any
 * thread. Linear in the text.
 *
 * Text, line by line, with white space at the ends ignored:
 *
 *      ## NAME                                   a section
 *      [id] helpful=3 harmful=1 :: content       a bullet of the section above
 *      # text                                    a comment
 *
 * Lines end with LF or CR LF. A byte order mark in front is ignored. */
#ifndef RENGA_TOOL_RUNNER_PLAYBOOK_TEXT_H
#define RENGA_TOOL_RUNNER_PLAYBOOK_TEXT_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/status.h"

#include "renga/v1/tool_runner.pb-c.h"

#define PLAYBOOK_PROBLEMS_MAX 1000 /* that are told; all are counted */

/* All in the arena. Each bullet keeps the bounds of playbook.proto and no id stands twice; ids, sections, sources and
 * times may be missing. */
struct playbook_text {
    Renga__V1__Bullet **bullets;
    size_t count;
    Renga__V1__PlaybookProblem **problems; /* by number */
    size_t n_problems;
    int32_t problem_count; /* all, told or not */
};

/* Reads all that can be read; the rest is told in `problems`. UNSPECIFIED means TEXT. False with INVALID_ARGUMENT and
 * the field `text` if it is too long or is no JSON at all, with RESOURCE_EXHAUSTED if the arena is out of memory. */
bool playbook_text_read(struct arena *arena, Renga__V1__PlaybookFormat format, const char *text,
                        struct playbook_text *out, struct status *st);

/* Appends the playbook; `buffer->failed` if it does not fit. A section header precedes each bullet that is in
 * another section than the bullet before. */
void playbook_text_write(struct buffer *out, Renga__V1__PlaybookFormat format, const char *dataset, int64_t revision,
                         Renga__V1__Bullet *const *bullets, size_t count);

/* Appends the line of a bullet in the format TEXT, with its line break. */
void playbook_text_write_bullet(struct buffer *out, const Renga__V1__Bullet *bullet);

/* An estimate of the tokens of that line. The tokens of a playbook are the sum over its bullets and its section lines.
 */
int64_t playbook_text_tokens(const Renga__V1__Bullet *bullet);
int64_t playbook_text_section_tokens(const char *section);

#endif
