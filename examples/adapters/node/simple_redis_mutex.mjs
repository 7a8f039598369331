// simple-redis-mutex on node-redis, asked by picklock: picklock run --program 'node target/adapters/node/simple_redis_mutex.mjs'
// Its tokens are counted by the store. An extension answers nothing, also where the lock was lost.
import { createInterface } from 'node:readline'
import { createClient } from 'redis'
import { tryLock } from 'simple-redis-mutex'

const store = createClient({ url: process.env.PICKLOCK_STORES })
store.on('error', () => {})
await store.connect()
const timeout = Number(process.env.PICKLOCK_TTL_MS)
const held = new Map()

async function answer(verb, key) {
  if (verb === 'acquire') {
    const [granted, release] = await tryLock(store, key, { timeout })
    if (!granted) return 'refused'
    held.set(key, release)
    return `granted token=${release.fencingToken}`
  }
  if (verb === 'release') {
    await held.get(key)()
    return 'released'
  }
  if (verb === 'renew') {
    await held.get(key).refreshTimeout()
    return 'renewed'
  }
  return `error not understood: ${verb}`
}

for await (const line of createInterface({ input: process.stdin })) {
  console.log(await answer(...line.split(' ')).catch(error => `error ${error.message}`))
}
process.exit()
