/* Private to the orchestrator: the next actions of a graph at work. Activated nodes begin, a step ends, and the
 * nodes of the next step are activated. From inside the loop of the shard. */
#ifndef RENGA_ORCHESTRATOR_STEP_H
#define RENGA_ORCHESTRATOR_STEP_H

struct activation;
struct frame;
struct run;
struct thread;

void frame_begin(struct frame *frame);
void frame_await(struct frame *frame);
void frame_enqueue(struct frame *frame);
void frame_touch(struct frame *frame); /* it is evaluated again soon */
void run_pump(struct run *run);
void activation_finished(struct activation *activation);
void activation_stop(struct activation *activation); /* takes it out of work, back to pending */
void frame_stop(struct frame *frame);
/* No node is at work in it, and it is not at its end. */
void frame_stopped(struct frame *frame);
void frame_drain(struct frame *frame);
void branches_evaluate(struct activation *activation);
void activation_retry(struct activation *activation); /* after its rest */
void thread_evaluate_frames(struct thread *thread);
void thread_begin_steps(struct thread *thread);

#endif
