// ioredis and redlock 5, asked by picklock: picklock run --program 'node target/adapters/node/redlock5.mjs' --stores 5
import { createInterface } from 'node:readline'
import Redis from 'ioredis'
import Redlock, { ExecutionError } from 'redlock-5'

const stores = process.env.PICKLOCK_STORES.split(',').map(url => new Redis(url))
stores.forEach(store => store.on('error', () => {}))
const redlock = new Redlock(stores)
redlock.on('error', () => {})
const ttl = Number(process.env.PICKLOCK_TTL_MS)
const held = new Map()

async function answer(verb, key) {
  if (verb === 'acquire') {
    const lock = await redlock.acquire([key], ttl)
    held.set(key, lock)
    return `granted expires_ms=${lock.expiration}`
  }
  const lock = held.get(key)
  held.delete(key)
  await lock.release()
  return 'released'
}

for await (const line of createInterface({ input: process.stdin })) {
  const [verb, key] = line.split(' ')
  const failed = error =>
    verb === 'acquire' && error instanceof ExecutionError ? 'refused' : `error ${error.message}`
  console.log(await answer(verb, key).catch(failed))
}
process.exit()
