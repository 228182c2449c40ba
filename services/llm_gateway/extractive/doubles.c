/* Nearly equal texts: manuals repeat their paragraphs, in chapters and as a whole, and in translations that are not
 * complete. A sketch has the least hash of each of 64 groups of runs of eight bytes; the share of equal ones estimates
 * the share of runs that two texts have in common, with an error of 0.06. */
#include "extract.h"

#include "words/claims.h"

#include <string.h>

#define RUN         8
#define ALIKE_LEAST 0.5
#define GROUP_BITS  6 /* of EXTRACT_SKETCH_GROUPS */

_Static_assert(EXTRACT_SKETCH_GROUPS == 1 << GROUP_BITS, "a group is found by the first bits of a hash");

void extract_sketch(struct text text, struct sketch *sketch)
{
    sketch->text = text;
    memset(sketch->least, 0xFF, sizeof sketch->least);
    for (size_t at = 0; at + RUN <= text.length; at++) {
        uint64_t run;
        memcpy(&run, text.bytes + at, RUN);
        run = (run ^ run >> 29) * UINT64_C(0x9E3779B97F4A7C15);
        run = (run ^ run >> 32) * UINT64_C(0xD6E8FEB86659FD93);
        uint32_t *least = &sketch->least[run >> (64 - GROUP_BITS)];
        uint32_t hash = (uint32_t)run & (UINT32_MAX >> 1);
        *least = hash < *least ? hash : *least;
    }
}

bool extract_sketches_alike(const struct sketch *one, const struct sketch *other)
{
    size_t equal = 0, used = 0;
    for (size_t i = 0; i < EXTRACT_SKETCH_GROUPS; i++) {
        bool filled = one->least[i] != UINT32_MAX || other->least[i] != UINT32_MAX;
        used += filled;
        equal += filled && one->least[i] == other->least[i];
    }
    return used && (double)equal >= ALIKE_LEAST * (double)used &&
           !claims_contradict((struct claim){one->text.bytes, one->text.length},
                              (struct claim){other->text.bytes, other->text.length});
}
