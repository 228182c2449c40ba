// Asks autonomous research as a Node client does: node flow.mjs ADDRESS KEY THEME. A run without a person; one with a person who
// approves, edits and stops, over streams that go on behind the last event seen, with answers that come twice, too late, or from two
// at once; one that is rejected three times; one that nobody answers. Prints JSON.
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import grpc from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'

const root = resolve(join(dirname(fileURLToPath(import.meta.url)), '../../../proto'))
const load = file => grpc.loadPackageDefinition(loadSync([file], { includeDirs: [root], keepCase: true, longs: Number, enums: String, oneofs: true }))
const service = new (load('renga/v1/autonomous_research.proto').renga.v1.AutonomousResearch)(process.argv[2], grpc.credentials.createInsecure())
const metadata = new grpc.Metadata()
metadata.set('authorization', `Bearer ${process.argv[3]}`)
const deadline = new Date(Date.now() + 90000)
const theme = process.argv[4]

const read = (method, request) => new Promise((done, failed) => {
  const events = []
  const stream = service[method](request, metadata, { deadline })
  stream.on('data', event => event.event && events.push(event))
  stream.on('error', failed)
  stream.on('end', () => done(events))
})
const call = (method, request) => new Promise((done, failed) =>
  service[method](request, metadata, { deadline }, (error, reply) => error ? failed(error) : done(reply.result)))
const refusal = promise => promise.then(() => ({ code: 0 }), error => ({ code: error.code, text: error.details }))
const last = events => events.at(-1).result
const all = []
const follow = async (method, request) => {
  const events = await read(method, request)
  all.push(...events)
  return last(events)
}

const first = await follow('ResearchStream', { theme, max_iterations: 8, human_intervention: true, options: { request_id: `run-${process.pid}` } })
const run_id = first.outcome.run_id
const seen = () => all.at(-1).event_id
const answer = (decision, interrupt_id) => ({ run_id, decision, interrupt_id, options: { request_id: `answer-${all.length}`, after_event_id: seen() } })

const early = answer({ approve: {} }, first.waiting.interrupt_id)
const planned = await follow('ResumeStream', early)
const edit = { search_queries: ['session timeout after minutes', 'error E-1024 license server'], investigation_points: ['Sessions', 'Errors'], advice: 'Be brief.' }
const edited = await follow('ResumeStream', answer({ edit }, planned.waiting.interrupt_id))
const late = await refusal(call('Resume', answer({ stop: {} }, planned.waiting.interrupt_id)))
const twice = await Promise.all([early, early].map(request => call('Resume', request)))
const other = await refusal(call('Resume', { ...early, decision: { stop: {} } }))

const waits = edited.waiting.interrupt_id
const pair = await Promise.all(['one', 'two'].map(who => refusal(call('Resume',
  { run_id, interrupt_id: waits, decision: { advise: { text: `I am ${who}` } }, options: { request_id: `pair-${who}` } }))))
const end = await call('Resume', { run_id, decision: { stop: { reason: 'enough' } } })
const after = await refusal(call('Resume', { run_id, decision: { approve: {} } }))
const wrong = await refusal(call('Resume', { run_id, decision: { reject: { reason: ' ' } } }))
const rest = await read('ResumeStream', { ...early, options: { ...early.options, after_event_id: 0 } })

const report = await call('Research', { theme, max_iterations: 8 })
let rejected = await call('Research', { theme, max_iterations: 8, human_intervention: true })
const left = []
while (rejected.waiting) {
  left.push(rejected.waiting.rejections_left)
  rejected = await call('Resume', { run_id: rejected.outcome.run_id, decision: { reject: { reason: `not like this ${left.length}` } } })
}
const silent = { theme, max_iterations: 8, human_intervention: true, human_timeout_ms: 300, human_default: 'HUMAN_DEFAULT_STOP', options: { request_id: `silent-${process.pid}` } }
let timed = await call('Research', silent)
const { until_ms, since_ms, human_default } = timed.waiting
while (timed.waiting) {
  await new Promise(done => setTimeout(done, 50))
  timed = await call('Research', silent)
}

console.log(JSON.stringify({
  report: { draft: report.draft, sources: report.sources.map(source => source.url), stop_reason: report.stop_reason, citations: report.citations?.length },
  rejected: { left, stop_reason: rejected.stop_reason, texts: rejected.human_decisions.map(one => one.text) },
  timed: { span: until_ms - since_ms, human_default, stop_reason: timed.stop_reason, decisions: timed.human_decisions.map(({ action, timed_out, by }) => ({ action, timed_out, by: by ?? '' })) },
  run_id, first: first.waiting, planned: planned.plan, planned_waits: planned.waiting, edited: edited.plan, edited_waits: edited.waiting,
  kinds: all.map(event => event.event), ids: all.map(event => event.event_id), late, twice: twice.map(one => one.outcome.run_id), other, pair,
  end: { stop_reason: end.stop_reason, decisions: end.human_decisions, state: end.outcome.state, draft: end.draft }, after, wrong,
  rest: rest.map(event => event.event_id)
}))
service.close()
