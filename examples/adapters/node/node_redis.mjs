// A lease lock by hand on node-redis, asked by picklock: picklock run --program 'node target/adapters/node/node_redis.mjs'
import { randomUUID } from 'node:crypto'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from 'redis'

const RELEASE = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end"
const RENEW =
  "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) else return 0 end"

const store = createClient({ url: process.env.PICKLOCK_STORES })
store.on('error', () => {})
await store.connect()
const PX = Number(process.env.PICKLOCK_TTL_MS)
const held = new Map()

async function answer(verb, key, wait) {
  if (verb === 'acquire') {
    const owner = randomUUID()
    const end = performance.now() + Number(wait)
    while (!(await store.set(key, owner, { NX: true, PX }))) {
      if (performance.now() >= end) return 'refused'
      await sleep(20)
    }
    held.set(key, owner)
    return 'granted'
  }
  if (verb === 'release') {
    const gone = await store.eval(RELEASE, { keys: [key], arguments: [held.get(key)] })
    return gone === 1 ? 'released' : 'error it was not held any more'
  }
  if (verb === 'renew') {
    const kept = await store.eval(RENEW, { keys: [key], arguments: [held.get(key), String(PX)] })
    return kept === 1 ? 'renewed' : 'lost'
  }
  return `error not understood: ${verb}`
}

for await (const line of createInterface({ input: process.stdin })) {
  console.log(await answer(...line.split(' ')).catch(error => `error ${error.message}`))
}
process.exit()
