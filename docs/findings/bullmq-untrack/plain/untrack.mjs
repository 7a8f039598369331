// The first worker runs jobs in two steps, and puts a job back into the queue between them. The second worker is idle until then.
import { Queue, WaitingError, Worker } from 'bullmq'

const jobs = 30
const connection = { host: '127.0.0.1', port: Number(process.argv[2]) }
const settings = { connection, concurrency: jobs, lockDuration: 2000, stalledInterval: 1000 }
const sleep = milliseconds => new Promise(resolve => setTimeout(resolve, milliseconds))
const began = Date.now()
const say = text => console.log(`${((Date.now() - began) / 1000).toFixed(1)} s: ${text}`)
const running = new Map()
const twice = new Set()

// The first step ends as in the documentation ("Process Step Jobs"); the second step works for 5 s.
const processor = name => async (job, token) => {
  if (job.data.step === 1) {
    await job.updateData({ step: 2 })
    await job.moveToWait(token)
    throw new WaitingError()
  }
  if (running.has(job.id)) {
    if (twice.size === 0) say(`${name} begins job ${job.id}, which ${running.get(job.id)} still runs`)
    twice.add(job.id)
  }
  running.set(job.id, name)
  await sleep(5000)
  running.delete(job.id)
}

const queue = new Queue('jobs', { connection })
const work = name => {
  const worker = new Worker('jobs', processor(name), settings)
  worker.on('error', () => {})
  worker.on('stalled', id => stalled.add(id))
  return worker
}
const stalled = new Set()
const first = work('worker 1')
for (let id = 1; id <= jobs; id++) {
  await queue.add('job', { step: 1 })
  await sleep(20)
}
const renewed = first.lockManager.getTrackedJobIds()
say(`worker 1 runs the second step of ${running.size} jobs, and renews the locks of ${renewed.length}`)
work('worker 2')
await sleep(8000)
say(`stalled: ${stalled.size} of ${jobs}; run twice at the same time: ${twice.size} of ${jobs}`)
process.exit()
