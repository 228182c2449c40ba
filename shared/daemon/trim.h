/* The heap of a process: which blocks leave it at once, and memory that only the start needed. Private to
 * shared/daemon. */
#ifndef RENGA_DAEMON_TRIM_H
#define RENGA_DAEMON_TRIM_H

/* To be called before the first thread is made. A block of PROCESS_LARGE_BLOCK bytes or more is mapped alone: its
 * memory goes back to the system when it is freed, and moves without a copy when it grows. glibc raises that bound by
 * itself, up to 32 MiB, with each large block that is freed; then blocks of MiBs leave holes in the heap. */
#define PROCESS_LARGE_BLOCK (256 << 10) /* bytes */
void process_bound_heap(void);

/* Frees unused heap pages, and lets the kernel drop code and constants that only loading and start-up used. Used pages
 * come back from the page cache by themselves. An idle service is then as small as its working set. */
void process_trim(void);

#endif
