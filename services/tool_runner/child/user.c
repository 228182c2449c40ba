/* The user of a child: ours, or another if we are root. */
#include "child/child.h"

#include <ctype.h>
#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

#define ID_MAX     4294967294UL /* -1 means "as it is" */
#define NOBODY     65534        /* if no user has that name */
#define RECORD_MAX 4096         /* bytes of an entry of a user */

static bool read_id(const char **text, uid_t *id)
{
    char *end;
    unsigned long number = isdigit((unsigned char)**text) ? strtoul(*text, &end, 10) : ID_MAX + 1;
    if (number > ID_MAX)
        return false;
    *text = end;
    *id = (uid_t)number;
    return true;
}

static bool user_read_numbers(const char *text, struct child_user *user)
{
    if (!read_id(&text, &user->uid))
        return false;
    user->gid = user->uid;
    return *text == '\0' || (*text++ == ':' && read_id(&text, &user->gid) && *text == '\0');
}

static bool user_look_up(const char *name, struct child_user *user)
{
    char room[RECORD_MAX];
    struct passwd entry, *found = NULL;
    if (getpwnam_r(name, &entry, room, sizeof room, &found) != 0 || !found)
        return false;
    user->uid = entry.pw_uid;
    user->gid = entry.pw_gid;
    return true;
}

bool child_user_find(const char *text, struct child_user *user, struct status *st)
{
    *user = (struct child_user){.uid = NOBODY, .gid = NOBODY};
    if (!text && geteuid() != 0)
        return true;
    if (!text)
        user_look_up("nobody", user);
    else if (!user_read_numbers(text, user) && !user_look_up(text, user))
        return fail(st, INVALID_ARGUMENT, "there is no user '%.64s'; a name, UID or UID:GID is expected", text);
    user->changes = user->uid != geteuid() || user->gid != getegid();
    return !user->changes || geteuid() == 0 ||
           fail(st, FAILED_PRECONDITION, "only root can start a process as '%.64s'; leave it out", text);
}
