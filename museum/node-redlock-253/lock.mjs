// node-redlock's using(), which extends the lock and aborts a signal: an autonomous client that stops when the signal is aborted. With the
// word `looks` it stops at the expiration of what was granted or extended last as well.
import Redis from 'ioredis'
import Redlock from 'redlock'

const ttl = Number(process.env.PICKLOCK_TTL_MS)
const looks = process.argv[2] === 'looks'
const key = 'job:1'
let until = 0

class Watched extends Redlock {
  async acquire(...request) {
    const lock = await super.acquire(...request)
    until = lock.expiration
    return lock
  }

  async extend(...request) {
    const lock = await super.extend(...request)
    until = lock.expiration
    return lock
  }
}

const sleep = ms => new Promise(resolve => setTimeout(resolve, ms))
const redlock = new Watched([new Redis(process.env.PICKLOCK_STORES)], { retryCount: 0 })
redlock.on('error', () => {})

async function work(signal) {
  console.log(`holds ${key}`)
  const over = Date.now() + 3 * ttl
  while (Date.now() < over && !signal.aborted && !(looks && Date.now() >= until)) await sleep(5)
  console.log(`frees ${key}`)
}

// The clock of a machine is set while a program starts: it is right from the first wait on.
await sleep(1)
for (;;) {
  await redlock.using([key], ttl, work).catch(() => {})
  await sleep(20 + 40 * Math.random())
}
