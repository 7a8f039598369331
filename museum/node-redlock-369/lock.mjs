// redlock 5 on ioredis, each acquire a single attempt; with the word `looks`, a lock whose expiration is past counts as refused.
import { createInterface } from 'node:readline'
import Redis from 'ioredis'
import Redlock, { ExecutionError } from 'redlock'

const looks = process.argv.includes('looks')
const store = new Redis(process.env.PICKLOCK_STORES)
store.on('error', () => {})
const redlock = new Redlock([store], { retryCount: 0 })
const ttl = Number(process.env.PICKLOCK_TTL_MS)
const held = new Map()

async function answer(verb, key) {
  if (verb === 'acquire') {
    const lock = await redlock.acquire([key], ttl)
    if (looks && lock.expiration < Date.now()) return 'refused'
    held.set(key, lock)
    return 'granted'
  }
  if (verb === 'release') {
    await held.get(key).release()
    return 'released'
  }
  return `error not understood: ${verb}`
}

for await (const line of createInterface({ input: process.stdin })) {
  const [verb, key] = line.split(' ')
  const failed = error => (verb === 'acquire' && error instanceof ExecutionError ? 'refused' : `error ${error.message}`)
  console.log(await answer(verb, key).catch(failed))
}
process.exit()
