// Asks deep research as a Node client does: node flow.mjs ADDRESS QUESTION. Drops the stream after five events, comes back,
// asks a further question, and makes two mistakes; prints what came, as JSON.
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import grpc from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'

const root = resolve(join(dirname(fileURLToPath(import.meta.url)), '../../../proto'))
const load = file => grpc.loadPackageDefinition(loadSync([file], { includeDirs: [root], keepCase: true, longs: Number, enums: String, oneofs: true }))
const service = new (load('renga/v1/deep_research.proto').renga.v1.DeepResearch)(process.argv[2], grpc.credentials.createInsecure())
const deadline = new Date(Date.now() + 60000)
const question = process.argv[3]
const options = { request_id: `node-${process.pid}`, keep_running: true }

const read = (request, most) => new Promise((done, failed) => {
  const events = []
  const stream = service.ResearchStream(request, { deadline })
  stream.on('data', event => {
    if (!event.event || events.length === most) return
    events.push(event)
    if (events.length === most) { stream.cancel(); done(events) }
  })
  stream.on('error', error => error.code === grpc.status.CANCELLED ? done(events) : failed(error))
  stream.on('end', () => done(events))
})
const call = (method, request) => new Promise((done, failed) =>
  service[method](request, { deadline }, (error, reply) => error ? failed(error) : done(reply.result)))
const refusal = promise => promise.then(() => undefined, error => error)

const before = await read({ question, options }, 5)
const rest = await read({ question, options: { ...options, after_event_id: before.at(-1).event_id } })
const result = rest.at(-1).result
const answer = await call('FollowUp', { run_id: result.outcome.run_id, question: 'What does E-1024 mean?' })
const refused = await refusal(call('Research', { question, max_cycles: 4 }))
const unknown = await refusal(call('FollowUp', { run_id: 'never', question: 'Why?' }))
console.log(JSON.stringify({
  first: before.map(event => event.event), rest: rest.map(event => event.event), ids: [...before, ...rest].map(event => event.event_id),
  notes: result.notes.map(({ step_no, query, summary_md, sources }) => ({ step_no, query, summary_md, sources: sources.length })),
  answer: answer.report_md, refused: { code: refused?.code, field: refused?.details.split(/[ :]/)[0].replaceAll("'", '') }, unknown: unknown?.code
}))
service.close()
