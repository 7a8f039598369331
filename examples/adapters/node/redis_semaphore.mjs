// redis-semaphore's Mutex on ioredis, asked by picklock: picklock run --program 'node target/adapters/node/redis_semaphore.mjs'
// It renews by itself; with the word `lease` it does not. On several stores it is the RedlockMutex.
import { createInterface } from 'node:readline'
import Redis from 'ioredis'
import { Mutex, RedlockMutex } from 'redis-semaphore'

const stores = process.env.PICKLOCK_STORES.split(',').map(url => new Redis(url))
stores.forEach(store => store.on('error', () => {}))
// An error at a renewal is given to nobody (swarthy/redis-semaphore 199): without this it ends the process.
process.on('unhandledRejection', () => {})
const lockTimeout = Number(process.env.PICKLOCK_TTL_MS)
const refreshes = process.argv[2] === 'lease' ? { refreshInterval: 0 } : {}
const held = new Map()

async function answer(verb, key, wait) {
  if (verb === 'acquire') {
    const options = { lockTimeout, acquireTimeout: Number(wait), retryInterval: 20, onLockLost: () => {}, ...refreshes }
    const mutex = stores.length > 1 ? new RedlockMutex(stores, key, options) : new Mutex(stores[0], key, options)
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
