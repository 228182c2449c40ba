/* Mail between loops over nng: a loop has one mailbox, and a line to each loop that it writes to.
 *
 *      loop A:  line_reserve, line_reserve, …   one letter a visit of the loop   ---> mailbox of B: received, received,
 * …
 *
 * Messages of a line arrive in their order, once, while both ends live; they share letters, so that many cost little
 * more than one. Nothing here ever waits: a letter that the other end does not take stays until its socket says that
 * there is room, and line_waiting tells how much stands there. Sockets are opened once and are never closed while the
 * process lives: nng 1.5.2 may deadlock there. A line and a mailbox belong to their loop; all from inside it, but for
 * opening. */
#ifndef RENGA_ORCHESTRATOR_MAILBOX_H
#define RENGA_ORCHESTRATOR_MAILBOX_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct loop;
struct mailbox;
struct line;

/* `bytes` is one message, from the line of this sender; alive until it returns. */
typedef void mailbox_received(void *data, uint32_t sender, const uint8_t *bytes, size_t size);

/* Listens at an address of nng's, such as inproc://name. A letter of more than `letter_max` bytes is dropped by nng
 * where it comes over a network: lines are opened with the same figure and never write one. Any thread. */
struct mailbox *mailbox_open(const char *address, size_t letter_max, struct status *st);
bool mailbox_attend(struct mailbox *mailbox, struct loop *loop, mailbox_received *received, void *data);
/* Nothing is received any more; NULL is nothing. */
void mailbox_leave(struct mailbox **mailbox);

/* To a mailbox that is open. `sender` is told with each message. */
struct line *line_open(struct loop *loop, const char *address, uint32_t sender, size_t letter_max, struct status *st);
/* What waits is dropped; NULL is nothing. */
void line_close(struct line **line);

/* Room for one message of the letter that goes when the loop is left; to be filled before the next call. NULL where the
 * message is larger than a letter may be. */
uint8_t *line_reserve(struct line *line, size_t size);
size_t line_waiting(const struct line *line); /* bytes that were reserved and not taken yet */

#endif
