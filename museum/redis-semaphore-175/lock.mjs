// redis-semaphore's Mutex on ioredis, which renews by itself.
import { createInterface } from 'node:readline'
import Redis from 'ioredis'
import { Mutex } from 'redis-semaphore'

const store = new Redis(process.env.PICKLOCK_STORES)
const lockTimeout = Number(process.env.PICKLOCK_TTL_MS)
const held = new Map()

async function answer(verb, key, wait) {
  if (verb === 'acquire') {
    const mutex = new Mutex(store, key, {
      lockTimeout, acquireTimeout: Number(wait), retryInterval: 20, onLockLost: () => {} })
    if (!(await mutex.tryAcquire())) return 'refused'
    held.set(key, mutex)
    return 'granted'
  }
  if (verb === 'release') {
    await held.get(key).release()
    return 'released'
  }
  return `error not understood: ${verb}`
}

for await (const line of createInterface({ input: process.stdin })) {
  console.log(await answer(...line.split(' ')).catch(error => `error ${error.message}`))
}
process.exit()
