// BullMQ's Worker and one job in two steps, an autonomous client for picklock. The work is the second step; between the steps the job goes back to the
// queue. With `alone` the worker runs one job at a time. BullMQ's scripts use streams and cmsgpack, so the store is a real redis-server.
import Redis from 'ioredis'
import { Queue, WaitingError, Worker } from 'bullmq'

const url = process.env.PICKLOCK_STORES
const connect = () => new Redis(url, { maxRetriesPerRequest: null })
const ttl = Number(process.env.PICKLOCK_TTL_MS)
const sleep = milliseconds => new Promise(resolve => setTimeout(resolve, milliseconds))
let holds = 0

async function run(job, token) {
  if (job.data.step === 1) {
    await job.updateData({ step: 2 })
  } else {
    if (holds++ === 0) console.log('holds job')
    await sleep(3 * ttl)
    if (--holds === 0) console.log('frees job\nwants job')
    await job.updateData({ step: 1 })
  }
  await job.moveToWait(token)
  throw new WaitingError()
}

console.log('wants job')
const concurrency = process.argv.includes('alone') ? 1 : 2
const worker = new Worker('jobs', run, { connection: connect(), concurrency, lockDuration: ttl, stalledInterval: ttl / 2, maxStalledCount: 9 })
worker.on('error', error => console.error(error.message))
const queue = new Queue('jobs', { connection: connect(), skipMetasUpdate: true })
queue.on('error', error => console.error(error.message))
await queue.add('job', { step: 1 }, { jobId: 'job' })
