// The four properties of the specification as a Node client sees them: node properties.mjs ADDRESS CASES. The model answers
// with the prompt that it was shown. Prints the counts as JSON; a case that fails ends it with its message.
import assert from 'node:assert/strict'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import grpc from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'

const root = resolve(join(dirname(fileURLToPath(import.meta.url)), '../../../proto'))
const load = file => grpc.loadPackageDefinition(loadSync([file], { includeDirs: [root], keepCase: true, longs: Number, enums: String, oneofs: true })).renga.v1
const [, , address, cases] = process.argv
const ace = new (load('renga/v1/ace.proto').AceGenerator)(address, grpc.credentials.createInsecure())
const orchestrator = new (load('renga/v1/orchestrator.proto').Orchestrator)(address, grpc.credentials.createInsecure())
const call = (service, method, request) => new Promise((done, failed) =>
  service[method](request, { deadline: Date.now() + 60000 }, (error, reply) => error ? failed(error) : done(reply)))

let seed = 20261123
const next = most => { // mulberry32
  seed = (seed + 0x6D2B79F5) | 0
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed)
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
  return ((t ^ (t >>> 14)) >>> 0) % most
}
const pick = list => list[next(list.length)]
const kinds = [() => pick('abcXYZ019'), () => pick('{}"\\[]:,.-_\'%$\n\t\r <>'), () => String.fromCodePoint(0x3040 + next(0x6000)),
  () => String.fromCodePoint(0x1F300 + next(0x300)), () => String.fromCodePoint(0x300 + next(0x70)), () => String.fromCodePoint(1 + next(0xD7FE))]
const text = () => 'q' + Array.from({ length: next(200) }, () => pick(kinds)()).join('')

const task = async number => {
  const query = number % 250 ? text() : text().slice(0, 40).toWellFormed() + '大'.repeat(20000)
  const { trajectory, outcome } = await call(ace, 'Generate', { query, dataset: `node-${number % 5}` })
  assert.equal(trajectory.query, query) // as it was sent
  assert.equal(trajectory.status, 'TRAJECTORY_STATUS_SUCCESS', trajectory.error_message)
  assert.ok(trajectory.generated_answer.includes(query), `the prompt of ${JSON.stringify(query)} does not have it`) // 3 and 4
  const first = `first ${[...query].slice(0, 2000).join('')}`
  for (const lesson of [first, '{context} {{query}} }'])
    assert.ok(trajectory.generated_answer.includes(lesson), `the prompt does not have ${JSON.stringify(lesson)}`)
  const json = JSON.parse((await call(orchestrator, 'GetRun', { run_id: outcome.run_id })).run.output_json).trajectory // 1
  assert.deepEqual(JSON.parse(JSON.stringify(json)), json)
  assert.deepEqual(json, {
    query, dataset: trajectory.dataset, generated_answer: trajectory.generated_answer, reasoning_steps: trajectory.reasoning_steps,
    used_bullet_ids: trajectory.used_bullet_ids, status: 'success', error_message: null, created_at: json.created_at
  })
  assert.equal(Date.parse(json.created_at), trajectory.created_ms)
}

const wrongType = async () => { // 2
  const field = pick(['query', 'dataset', 'top_k'])
  const value = pick([next(1000) + 0.5, true, [text()], { [text()]: 1 }, [], {}, field === 'top_k' ? text() : next(1000)])
  const input_json = JSON.stringify({ query: text(), dataset: 'd', [field]: value })
  const error = await call(orchestrator, 'StartRun', { agent: 'ace_generator', input_json }).then(() => undefined, error => error)
  assert.equal(error?.code, grpc.status.INVALID_ARGUMENT, `${input_json} was taken`)
  assert.ok(error.details.includes(`'${field}'`) && error.details.includes('which takes a'), error.details)
}

const sideBySide = async (run, count) => {
  let at = 0
  await Promise.all(Array.from({ length: 8 }, async () => { while (at < count) await run(at++) }))
  return at
}
const counts = { tasks: await sideBySide(task, +cases), refused: await sideBySide(wrongType, +cases) }
console.log(JSON.stringify(counts))
ace.close()
orchestrator.close()
