/* Names of threads, as debuggers and top show them. A thread names itself: pthread_setname_np of another thread goes
 * through /proc, and the kernel takes up to 4 ms to forget those entries when the process ends. */
#ifndef RENGA_BASE_THREAD_H
#define RENGA_BASE_THREAD_H

/* Names the calling thread, with 15 bytes at most. */
void thread_name(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
