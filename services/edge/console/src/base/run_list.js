// The list of runs as the page keeps it, for 100,000 runs and more.

// What a row shows of a run: of 100,000 runs the rest would fill the browser's memory.
export const rowOf = run => ({ runId: run.runId, state: run.state, agent: run.agent, title: run.labels?.title, reason: run.reason, step: run.step,
  createdMs: run.createdMs, startedMs: run.startedMs, updatedMs: run.updatedMs, endedMs: run.endedMs,
  tokens: Number(run.usage?.inputTokens ?? 0) + Number(run.usage?.outputTokens ?? 0), costMicros: Number(run.usage?.costMicros ?? 0) })

// The list after its newest page was read again. Ids of runs are in the order of the list, so that the page replaces all
// rows down to its last one. When even that row is newer than the list, the list begins anew: no run is left out.
export function withTop(runs, page, more) {
  const last = page.at(-1)?.runId
  if (!more || !last) return { runs: page, anew: true }
  const behind = runs.findIndex(run => run.runId < last)
  if (behind === 0) return { runs: page, anew: true }
  return { runs: behind < 0 ? page : [...page, ...runs.slice(behind)], anew: behind < 0 }
}
