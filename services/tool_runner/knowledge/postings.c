#include "knowledge/postings.h"

static size_t postings_write_number(uint8_t *out, uint64_t number)
{
    size_t size = 0;
    for (; number >= 0x80; number >>= 7)
        out[size++] = (uint8_t)(number | 0x80);
    out[size++] = (uint8_t)number;
    return size;
}

/* The lowest bit says whether how often it stands there follows: most terms stand there once. */
size_t posting_write(uint8_t *out, uint32_t previous, struct posting posting)
{
    uint64_t more = posting.times > 1;
    size_t size = postings_write_number(out, (uint64_t)(posting.paragraph - previous) << 1 | more);
    return more ? size + postings_write_number(out + size, posting.times) : size;
}

bool postings_number(struct postings *postings, uint64_t *number)
{
    *number = 0;
    for (unsigned shift = 0; shift < 35 && postings->at < postings->end; shift += 7) {
        uint8_t byte = *postings->at++;
        *number |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}
