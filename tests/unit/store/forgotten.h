/* What stands in a SQLite store's files, and that "the old pond" soon stands in none. For tests with store_fixture.h.
 */
#ifndef RENGA_TESTS_STORE_FORGOTTEN_H
#define RENGA_TESTS_STORE_FORGOTTEN_H

#include "store_fixture.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* `end`: "" for the database, "-wal" for its log. */
static inline bool file_has(const char *end, const char *text)
{
    char path[128];
    static char bytes[16 << 20];
    snprintf(path, sizeof path, "%s%s", site.path, end);
    FILE *file = fopen(path, "r");
    size_t size = file != NULL ? fread(bytes, 1, sizeof bytes, file) : 0;
    if (file != NULL)
        fclose(file);
    assert_true(size < sizeof bytes);
    return memmem(bytes, size, text, strlen(text)) != NULL;
}

static inline void forget_the_pond(struct written *written)
{
    store_forget(&written->batch);
    assert_int_equal(commit_now(written).code, OK);
    for (int i = 0; i < 5000 && (file_has("-wal", "the old pond") || file_has("", "the old pond")); i++)
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    assert_false(file_has("-wal", "the old pond"));
    assert_false(file_has("", "the old pond"));
}

#endif
