/* Files of this user for runs of this process: a database each, so that two terminals do not wait for each other and
 * deleting a run means deleting its files. */
#ifndef RENGA_LOCAL_STORE_H
#define RENGA_LOCAL_STORE_H

#include "commands.h"

#define LOCAL_STORE_NAME_SIZE 129 /* bytes of a name, as of threads and sessions, with the NUL */

struct local_store {
    char name[LOCAL_STORE_NAME_SIZE];
    bool made;    /* the name is made here */
    bool existed; /* the file was there before */
    char path[PATH_MAX];
    char target[PATH_MAX + 8]; /* for orchestrator.store */
};

/* In the folder `kind` of the user's own folder. `name` is the name that the person gave; NULL generates a name. False
 * without a folder: the target is memory. */
bool local_store_open(struct local_store *store, const char *kind, const char *name);
/* Gives the file another name; false if that fails. No process may have it open. */
bool local_store_rename(struct local_store *store, const char *kind, const char *name);
/* Removes a file that was made here and has not been used. */
void local_store_close(const struct local_store *store, bool used);

#endif
