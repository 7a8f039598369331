// ioredis and redlock 5, asked by picklock: picklock run --program 'node target/adapters/node/redlock5.mjs' --stores 5
// Or another package with the same interface, as the argument says: @sesamecare-oss/redlock
import { createInterface } from 'node:readline'
import Redis from 'ioredis'

const { Redlock, default: whole, ExecutionError } = await import(process.argv[2] ?? 'redlock-5')

const stores = process.env.PICKLOCK_STORES.split(',').map(url => new Redis(url))
stores.forEach(store => store.on('error', () => {}))
const redlock = new (Redlock ?? whole)(stores)
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
  if (verb === 'release') {
    held.delete(key)
    await lock.release()
    return 'released'
  }
  if (verb === 'renew') {
    const longer = await lock.extend(ttl)
    held.set(key, longer)
    return `renewed expires_ms=${longer.expiration}`
  }
  return `error not understood: ${verb}`
}

for await (const line of createInterface({ input: process.stdin })) {
  const [verb, key] = line.split(' ')
  const no = { acquire: 'refused', renew: 'lost' }[verb]
  const failed = error => (no && error instanceof ExecutionError ? no : `error ${error.message}`)
  console.log(await answer(verb, key).catch(failed))
}
process.exit()
