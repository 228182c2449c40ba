/* Shared by the files of the store on Redis: the state of the writers, and the handling of replies. */
#ifndef RENGA_STORE_REDIS_PRIV_H
#define RENGA_STORE_REDIS_PRIV_H

#include "store/redis/connection.h"
#include "store/redis/errors.h"
#include "store/redis/group.h"
#include "store/store_priv.h"

#include <stdatomic.h>

#define REDIS_MARK_SIZE   24 /* bytes, the NUL included */
#define REDIS_WRITER_SIZE 33 /* bytes of a writer's id, the NUL included */

struct redis_engine {
    struct redis_settings settings;
    struct redis_connection writer, readers[STORE_READERS];
    atomic_llong found_ns;               /* when a request was answered again */
    uint64_t losses_seen[STORE_READERS]; /* of the writer's, when the reader's connection was made */

    /* The writer's. */
    char id[REDIS_WRITER_SIZE];           /* "": not registered */
    uint64_t number;                      /* of the last group that was answered */
    bool in_doubt;                        /* the group after that may still be carried out */
    bool forgets;                         /* deleted text is still in Redis's file */
    int64_t forgot_ns;                    /* when that was last written anew */
    bool rewriting;                       /* Redis writes it anew */
    int64_t looked_ns;                    /* when it was last asked whether it has ended that */
    char rewritten_mark[REDIS_MARK_SIZE]; /* the mark at the time when that began */
    bool full;                            /* the log has said that Redis has no memory left */

    atomic_ullong losses; /* of the writer's connection */
    atomic_bool weak;
    pthread_mutex_t lock; /* protects the fields that the readers settle */
    bool unconfirmed;
    char unconfirmed_id[REDIS_WRITER_SIZE];
    uint64_t unconfirmed_number;
};

enum redis_outcome { REDIS_ANSWERED, REDIS_AGAIN, REDIS_REFUSED };

/* Classifies a reply (NULL: no reply arrived), and frees it if it is a error. If Redis must be asked again after a
 * error, the connection is given up: the next connection loads the scripts and finds the primary. */
enum redis_outcome redis_classify_reply(struct redis_connection *connection, struct redis_reply **reply,
                                        enum redis_error *error, struct status *st);

/* Registers as a new writer, which has no write in doubt. */
bool redis_register_writer(struct redis_engine *engine, struct status *st);

bool redis_write(void *engine, struct store_batch *batches, struct status *st);

/* forget.c: before a batch that forgets; when the store is opened; and when no write is under way. */
void redis_forget_mark(struct redis_engine *engine);
void redis_forget_resume(struct redis_engine *engine);
bool redis_maintain(void *engine);

void redis_scan(void *engine, unsigned reader, struct store_scan *scan);

#endif
