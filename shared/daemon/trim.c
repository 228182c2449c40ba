#include "daemon/trim.h"

#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

/* Code is never written to, so its pages hold nothing but the file's own bytes: dropping them loses nothing. That is
 * not so for other read-only mappings, some of which were relocated before they were sealed. */
static void drop_code_pages(void)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    if (!maps)
        return;
    char line[512];
    while (fgets(line, sizeof line, maps)) {
        uintptr_t begin, end;
        char access[5];
        unsigned long inode;
        if (sscanf(line, "%lx-%lx %4s %*s %*s %lu", &begin, &end, access, &inode) == 4 && inode &&
            strcmp(access, "r-xp") == 0)
            madvise((void *)begin, end - begin, MADV_DONTNEED);
    }
    fclose(maps);
}

void process_trim(void)
{
    malloc_trim(0);
    drop_code_pages();
}
