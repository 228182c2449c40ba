/* Files of this user for runs of this process: a database each, so that two terminals do not wait for each other and
 * deleting a run means deleting its files. */
#ifndef RENGA_OWN_STORE_H
#define RENGA_OWN_STORE_H

#include "commands.h"

#define OWN_NAME_SIZE 129 /* bytes of a name, as of threads and sessions, with the NUL */

struct own_store {
    char name[OWN_NAME_SIZE];
    bool made;    /* the name is made here */
    bool existed; /* the file was there before */
    char path[PATH_MAX];
    char target[PATH_MAX + 8]; /* for orchestrator.store */
};

/* In the folder `kind` of the user's own folder. `name` is the name that the person gave; NULL generates a name. False
 * without a folder: the target is memory. */
bool own_store_open(struct own_store *store, const char *kind, const char *name);
/* Gives the file another name; false if that fails. No process may have it open. */
bool own_store_rename(struct own_store *store, const char *kind, const char *name);
/* Removes a file that was made here and has not been used. */
void own_store_close(const struct own_store *store, bool used);

#endif
