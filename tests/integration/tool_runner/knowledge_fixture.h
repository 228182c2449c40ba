/* A tool-runner in this process, called in process and over gRPC, and a folder of documents to be indexed. */
#ifndef RENGA_TESTS_KNOWLEDGE_FIXTURE_H
#define RENGA_TESTS_KNOWLEDGE_FIXTURE_H

#include "rpc/rpc.h"

#include "renga/v1/tool_runner.pb-c.h"

#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#undef fail /* the macro; ours is a function of base/status.h */

#define TEXT(text) ((char *)(uintptr_t)(text))

struct fixture {
    struct loop *loop;
    ProtobufCService *stub;  /* by the way that is being tested */
    ProtobufCService *local; /* in process, where a call may say who makes it */
    char root[64];           /* what is below it may be indexed */
    char outside[64];        /* a folder that is there and may not be */
    char folder[96];         /* such a one; empty at the beginning of each test */
};

int run_both_ways(const char *name, const struct CMUnitTest *tests, size_t count);

/* How a call ended. */
struct answer {
    struct rpc_client_call call;
    sem_t done, first;
    struct status status;
    ProtobufCMessage *message; /* the last */
    size_t messages, skipped;  /* of a stream; and files that were told as skipped */
};

/* `tenant` NULL: no principal. In two steps, or one that waits. */
struct answer *begin_call(struct fixture *fixture, const char *tenant, const char *method,
                          const ProtobufCMessage *request);
void await(struct answer *answer);
struct answer *make_call(struct fixture *fixture, const char *tenant, const char *method,
                         const ProtobufCMessage *request);
void answer_free(struct answer *answer);
void assert_status(const struct answer *answer, enum status_code code, const char *part_of_text);

struct answer *index_folder(struct fixture *fixture, const char *collection);
struct answer *index_text(struct fixture *fixture, const char *tenant, const char *collection, const char *path,
                          const char *text);
/* Of one collection; "": of all. */
struct answer *search(struct fixture *fixture, const char *tenant, const char *collection, const char *query);
const Renga__V1__SearchResponse *found(const struct answer *answer);
const Renga__V1__IndexDocumentsProgress *progress(const struct answer *answer);

/* How a call ended, and that so many were found; both free what they ask. */
void assert_ends(struct answer *answer, enum status_code code, const char *part_of_text);
void assert_hits(struct fixture *fixture, const char *tenant, const char *collection, const char *query, size_t hits);
/* That the first hit is of these lines. */
void assert_first(const struct answer *answer, const char *uri, int line_from, int line_to);

/* Writes a file below the fixture's folder; NULL removes it. */
void put_file(struct fixture *fixture, const char *path, const char *text);
/* Five documents in two languages: Markdown, a table of questions, a page, notes. */
void write_manual(struct fixture *fixture);

#endif
