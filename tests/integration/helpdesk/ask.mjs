// Asks the help desk as a Node client does: node ask.mjs ADDRESS QUESTION; prints the events and what an empty question
// is answered with, as JSON.
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import grpc from '@grpc/grpc-js'
import protoLoader from '@grpc/proto-loader'

const root = resolve(join(dirname(fileURLToPath(import.meta.url)), '../../../proto'))
const options = { includeDirs: [root], keepCase: true, longs: Number, enums: String, oneofs: true }
const { Helpdesk } = grpc.loadPackageDefinition(protoLoader.loadSync(['renga/v1/helpdesk.proto'], options)).renga.v1
const desk = new Helpdesk(process.argv[2], grpc.credentials.createInsecure())
const deadline = new Date(Date.now() + 60000)

const events = []
const stream = desk.AskStream({ question: process.argv[3] }, { deadline })
stream.on('data', event => events.push(event))
stream.on('error', error => { console.error(error.message); process.exit(1) })
stream.on('end', () => desk.Ask({ question: ' ' }, { deadline }, error => {
  console.log(JSON.stringify({ events, refused: error?.code }))
  desk.close()
}))
