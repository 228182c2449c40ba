#include "daemon/trim.h"

#include <link.h>
#include <malloc.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#define HEAP_TOP_MAX (1 << 20) /* free bytes at the end of a heap: fewer would be fetched again by each larger call */

void process_bound_heap(void)
{
    mallopt(M_MMAP_THRESHOLD, PROCESS_LARGE_BLOCK);
    mallopt(M_TRIM_THRESHOLD, HEAP_TOP_MAX);
}

/* Segments that are loaded read-only (code, constants, symbol names) hold only the file's own bytes. Dropping them
 * loses no data: used pages come back from the page cache. Relocated read-only data is in writable segments, so it
 * stays, and so does every page that a segment only partly fills. */
static int drop_unwritable(struct dl_phdr_info *object, size_t size, void *data)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD || (segment->p_flags & PF_W))
            continue;
        uintptr_t begin = object->dlpi_addr + segment->p_vaddr, end = begin + segment->p_memsz;
        begin = (begin + page - 1) / page * page;
        end = end / page * page;
        if (begin < end)
            madvise((void *)begin, end - begin, MADV_DONTNEED);
    }
    return 0;
}

void process_trim(void)
{
    malloc_trim(0);
    dl_iterate_phdr(drop_unwritable, NULL);
}
