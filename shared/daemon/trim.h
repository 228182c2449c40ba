/* Gives back what only the start needed. Private to shared/daemon. */
#ifndef RENGA_DAEMON_TRIM_H
#define RENGA_DAEMON_TRIM_H

/* Frees heap pages that nobody uses, and lets the kernel drop code and constants that only loading and setting up went
 * through; whatever is needed again comes back from the page cache by itself. An idle service is then as small as what
 * it really uses. */
void process_trim(void);

#endif
