/* Postings: in which paragraphs of a collection a term stands, and how often. Ascending, as differences in bytes of
 * seven bits: some two bytes each. */
#ifndef RENGA_TOOL_RUNNER_POSTINGS_H
#define RENGA_TOOL_RUNNER_POSTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define POSTING_SIZE_MAX 10 /* bytes of one */
#define POSTINGS_ROW     24 /* bytes of a row of postings in the file, beside the term and the postings */

struct posting {
    uint32_t paragraph;
    uint32_t times; /* from 1 */
};

/* Writes one after `previous`, at most its own number; gives its size. */
size_t posting_write(uint8_t *out, uint32_t previous, struct posting posting);

/* Pieces of postings from a file: damage ends the iteration. */
struct postings {
    const uint8_t *at, *end;
    uint32_t paragraph; /* the one before; at first that the piece begins with */
};

/* A number of at most five bytes. */
bool postings_number(struct postings *postings, uint64_t *number);

/* A search reads some hundred thousand of them, nearly all of one byte. */
static inline bool postings_next(struct postings *postings, struct posting *posting)
{
    uint64_t number, times = 1;
    if (__builtin_expect(postings->at < postings->end && *postings->at < 0x80, 1))
        number = *postings->at++;
    else if (!postings_number(postings, &number))
        return false;
    if ((number & 1) && !postings_number(postings, &times))
        return false;
    postings->paragraph += (uint32_t)(number >> 1);
    *posting = (struct posting){postings->paragraph, (uint32_t)times};
    return true;
}

#endif
