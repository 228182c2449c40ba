/* In place of doubling.c in a build with a sanitizer, because its times and memory differ from ours. */
#include "doubling.h"

bool attack_holds(const struct reader *reader, const struct generator *generator, bool large, bool measured)
{
    struct buffer text;
    (void)large;
    (void)measured;
    buffer_init(&text, SIZE_MAX);
    generator_fill(generator, SMALL_BYTES, &text);
    reader_read(reader, &text);
    buffer_fini(&text);
    return true; /* the sanitizer ends the process if the reader is wrong */
}
