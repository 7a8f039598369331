// redlock, which retries without limit, driven by picklock. With `once` each acquire makes one attempt, and the caller repeats it.
import { createInterface } from 'node:readline'
import { Redis } from 'ioredis'
import { Redlock } from '@sesamecare-oss/redlock'

const stores = process.env.PICKLOCK_STORES.split(',').map(url => new Redis(url))
stores.forEach(store => store.on('error', () => {}))
const redlock = new Redlock(stores, { retryCount: process.argv.includes('once') ? 0 : -1, retryDelay: 20, retryJitter: 10 })
redlock.on('error', () => {})
const ttl = Number(process.env.PICKLOCK_TTL_MS)
const held = new Map()

async function answer(verb, key) {
  if (verb === 'release') {
    await held.get(key).release()
    return 'released'
  }
  const lock = await redlock.acquire([key], ttl)
  held.set(key, lock)
  return `granted expires_ms=${lock.expiration}`
}

for await (const line of createInterface({ input: process.stdin })) {
  const [verb, key] = line.split(' ')
  const failed = error => (verb === 'acquire' ? 'refused retry_ms=20' : `error ${error.message}`)
  console.log(await answer(verb, key).catch(failed))
}
process.exit()
