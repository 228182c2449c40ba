/* How much of the heap is taken, and was at most: this program's own malloc and free, which count and hand on to the C
 * library's. */
#ifndef RENGA_UNIT_HEAP_H
#define RENGA_UNIT_HEAP_H

#include <stddef.h>

/* From now on the peak is that of later allocations. */
void heap_mark(void);
/* Bytes of the peak beyond those that were taken at the mark. Any thread's. */
size_t heap_peak(void);

#endif
