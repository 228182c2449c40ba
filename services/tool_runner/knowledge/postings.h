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

/* Pieces of postings that came from a file: what is damaged ends them. */
struct postings {
    const uint8_t *at, *end;
    uint32_t paragraph; /* the one before; at first that the piece begins with */
};
bool postings_next(struct postings *postings, struct posting *posting);

#endif
