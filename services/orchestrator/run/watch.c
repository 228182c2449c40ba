#include "run_priv.h"
void audience_shown(struct run *run, const Renga__V1__ShownEvent *event) {}
void audience_token(struct due *due, uint32_t number, const char *text, const char *channel) {}
void audience_recorded(struct run *run, const Record *record, uint64_t number) {}
void audience_committed(struct thread *thread) {}
void audience_ended(struct thread *thread, const struct status *why) {}
uint32_t events_count(const Record *record)
{
    return 1;
}
void errand_serve_history(struct errand *errand, struct thread *thread)
{
    errand_refuse(errand, NULL, UNIMPLEMENTED, "later");
}
void errand_list(struct errand *errand)
{
    errand_refuse(errand, NULL, UNIMPLEMENTED, "later");
}
void errand_repeat_thread(struct errand *errand, struct thread *thread, const Renga__V1__RequestRow *row)
{
    errand_refuse(errand, NULL, UNIMPLEMENTED, "later");
}
void runner_watch(struct runner *runner, struct watcher *watcher)
{
    fail(&watcher->status, UNIMPLEMENTED, "later");
    watcher->came(watcher, NULL);
}
void runner_watch_pause(struct watcher *watcher) {}
void runner_watch_resume(struct watcher *watcher) {}
void runner_unwatch(struct watcher *watcher) {}
