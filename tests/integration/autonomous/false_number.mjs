// Has a theme studied by a model that plants a false number, as a Node client does: node false_number.mjs ADDRESS THEME FALSE_SENTENCE.
// Prints what the client was given on the way and at the end, and what the reviewer says of the result with the sentence in it.
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import grpc from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'

const root = resolve(join(dirname(fileURLToPath(import.meta.url)), '../../../proto'))
const files = ['renga/v1/autonomous_research.proto', 'renga/v1/reviewer.proto']
const { renga } = grpc.loadPackageDefinition(loadSync(files, { includeDirs: [root], keepCase: true, longs: Number, enums: String, oneofs: true, defaults: true }))
const [address, theme, sentence] = process.argv.slice(2)
const research = new renga.v1.AutonomousResearch(address, grpc.credentials.createInsecure())
const reviewer = new renga.v1.Reviewer(address, grpc.credentials.createInsecure())
const deadline = new Date(Date.now() + 120000)

const events = await new Promise((done, failed) => {
  const seen = []
  const stream = research.ResearchStream({ theme, max_iterations: 7, sources: ['DEEP_RESEARCH_SOURCE_WEB'] }, { deadline })
  stream.on('data', event => event.event && seen.push(event))
  stream.on('error', failed)
  stream.on('end', () => done(seen))
})
const result = events.at(-1).result
const drafts = []
for (const [place, event] of events.entries()) {
  if (event.event !== 'draft_text') continue
  if (events[place - 1].event === 'draft_text') drafts[drafts.length - 1] += event.draft_text
  else drafts.push(event.draft_text)
}
const review = draft => new Promise((done, failed) =>
  reviewer.ReviewDraft({ draft, sources: result.sources, plan: result.plan }, { deadline }, (error, reply) => error ? failed(error) : done(reply.review)))
const planted = await review(result.draft.replace('\n## Key Findings', `\n${sentence} [^1]\n\n## Key Findings`))

console.log(JSON.stringify({
  kinds: events.map(event => event.event), drafts, draft: result.draft, stop_reason: result.stop_reason, approved: result.review.approved,
  fact_check: result.review.scores.fact_check, degradations: result.outcome.degradations, planted
}))
research.close()
reviewer.close()
