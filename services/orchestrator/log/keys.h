/* The keys of threads and runs in the store. Names have no NUL: it ends them, so that keys of the same prefix stand
 * together, and numbers are big-endian, so that they stand in their order.
 *
 *      L tenant 0 thread 0 number      a record (LogRecord)
 *      S tenant 0 thread 0 number      the thread as it stood after that record (ThreadSnapshot)
 *      D tenant 0 thread 0 ordinal     a run of the thread: its id, its version, and their checksum (rows.h)
 *      T tenant 0 thread               the thread's row in lists (Thread)
 *      P tenant 0 thread               there while a run is queued or at work; the member that has it, or the
 *                                      session
 *      W tenant 0 thread               OwnerRow, where several orchestrators share the store
 *      K tenant thread                 CrashRow: its run was at work when owners died, and has not come further since
 *      M 0 member                      MemberRow
 *      s 0 session                     there from the start of an orchestrator that has the store alone to its orderly
 *                                      end: when that was, 8 bytes
 *      R tenant 0 run                  RunRow; ids of runs begin with their time, so that these stand by age
 *      Q tenant 0 request              RequestRow
 *      q tenant 0 thread 0 request     when it was made, big-endian: the requests that are deleted with the thread
 *      O time tenant 0 request         a request of a deleted thread; its row is deleted at that time (big-endian)
 *      E time tenant 0 thread          a run of the thread was paused before or after a node, and may be so until then
 *      Z tenant 0 thread               there while the thread is being erased
 *      C tenant 0 place                a result of a node that may be used again (CachedResult)
 *      c tenant 0 thread 0 place       there: it may have come from the thread, and goes with it
 *      V tenant 0 agent 0 run          there until the run has ended: its version (id_pack_version); once the version
 *                                      stood in the key, before the run, and such rows are still read
 *      B version                       the bundle of an agent */
#ifndef RENGA_ORCHESTRATOR_KEYS_H
#define RENGA_ORCHESTRATOR_KEYS_H

#include "store/store.h"

enum key_kind {
    KEY_RECORD = 'L',
    KEY_SNAPSHOT = 'S',
    KEY_THREAD_RUN = 'D',
    KEY_THREAD = 'T',
    KEY_PENDING = 'P',
    KEY_OWNER = 'W',
    KEY_MEMBER = 'M',
    KEY_CRASHES = 'K',
    KEY_SESSION = 's',
    KEY_RUN = 'R',
    KEY_REQUEST = 'Q',
    KEY_THREAD_REQUEST = 'q',
    KEY_ORPHAN = 'O',
    KEY_INTERRUPT_TIMEOUT = 'E',
    KEY_ERASED = 'Z',
    KEY_CACHED = 'C',
    KEY_THREAD_CACHED = 'c',
    KEY_VERSION = 'V',
    KEY_BUNDLE = 'B',
};

struct key {
    size_t size;
    char bytes[STORE_KEY_MAX];
};

/* Keys with a number (L, S, D). */
void key_numbered(struct key *key, enum key_kind kind, const char *tenant, const char *thread, uint64_t number);
uint64_t key_number(struct store_bytes key);
/* Keys of a thread that end with a name (q, c); with an agent for the thread and a run for the name, V. */
void key_under(struct key *key, enum key_kind kind, const char *tenant, const char *thread, const char *name);
/* The name at the end of a key of key_under; it ends with the key. */
struct store_bytes key_last_name(struct store_bytes key);
/* The old form of V; and the run of either form, with the version if it stands in the key (else ""). */
void key_old_version(struct key *key, const char *tenant, const char *agent, const char *version, const char *run);
bool key_version_names(struct store_bytes key, char *version, size_t version_room, char *run, size_t run_room);
/* O and E; without a tenant, the first key of that time. */
void key_timed(struct key *key, enum key_kind kind, int64_t time_ms, const char *tenant, const char *name);
/* Keys with a name (T, Z, C, P, W, M, R, Q, B); B and M have no tenant (""). */
void key_named(struct key *key, enum key_kind kind, const char *tenant, const char *name);
/* Behind all names of the tenant; behind all keys of the kind if tenant is NULL. */
void key_behind(struct key *key, enum key_kind kind, const char *tenant);
/* The tenant and the name of a T, Z, C, P, W, M, R or Q key; false for another kind. They point into the key, which
 * ends them with its NUL or its size. */
bool key_names(struct store_bytes key, char *tenant, size_t tenant_room, char *name, size_t name_room);

static inline struct store_bytes key_bytes(const struct key *key)
{
    return (struct store_bytes){key->bytes, key->size};
}

#endif
