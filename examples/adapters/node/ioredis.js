// A lease lock by hand on ioredis, on one Redis or on Redis Cluster, asked by picklock: picklock run --program 'node target/adapters/node/ioredis.js'
const { randomUUID } = require('node:crypto')
const { createInterface } = require('node:readline')
const Redis = require('ioredis')

const RELEASE = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end"
const RENEW =
  "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) else return 0 end"

const connect = () => {
  const stores = process.env.PICKLOCK_STORES
  const client = process.env.PICKLOCK_CLUSTER ? new Redis.Cluster(stores.split(',')) : new Redis(stores)
  return client.on('error', () => {})
}
let store = connect()
const PX = Number(process.env.PICKLOCK_TTL_MS)
const held = new Map()

async function answer(verb, key) {
  if (verb === 'acquire') {
    store ??= connect()
    const owner = randomUUID()
    if (!(await store.set(key, owner, 'PX', PX, 'NX'))) return 'refused'
    held.set(key, owner)
    return 'granted'
  }
  if (verb === 'release') {
    return (await store.eval(RELEASE, 1, key, held.get(key))) === 1 ? 'released' : 'error it was not held any more'
  }
  if (verb === 'renew') return (await store.eval(RENEW, 1, key, held.get(key), PX)) === 1 ? 'renewed' : 'lost'
  if (verb === 'close') {
    store.disconnect()
    store = undefined
    return 'closed'
  }
  return `error not understood: ${verb}`
}

async function serve() {
  for await (const line of createInterface({ input: process.stdin })) {
    console.log(await answer(...line.split(' ')).catch(error => `error ${error.message}`))
  }
  process.exit()
}
serve()
