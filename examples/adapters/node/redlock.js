// ioredis and redlock 4, asked by picklock: picklock run --program 'node target/adapters/node/redlock.js' --stores 5
const Redis = require('ioredis')
const Redlock = require('redlock')

const stores = process.env.PICKLOCK_STORES.split(',').map(url => new Redis(url))
stores.forEach(store => store.on('error', () => {}))
const redlock = new Redlock(stores)
const ttl = Number(process.env.PICKLOCK_TTL_MS)
const held = new Map()

async function answer(verb, key) {
  if (verb === 'acquire') {
    const lock = await redlock.lock(key, ttl)
    held.set(key, lock)
    return `granted expires_ms=${lock.expiration}`
  }
  const lock = held.get(key)
  if (verb === 'release') {
    held.delete(key)
    await lock.unlock()
    return 'released'
  }
  if (verb === 'renew') {
    const longer = await lock.extend(ttl)
    held.set(key, longer)
    return `renewed expires_ms=${longer.expiration}`
  }
  return `error not understood: ${verb}`
}

require('readline').createInterface({ input: process.stdin }).on('line', async line => {
  const [verb, key] = line.split(' ')
  const no = { acquire: 'refused', renew: 'lost' }[verb]
  const failed = error => (no && error.name === 'LockError' ? no : `error ${error.message}`)
  console.log(await answer(verb, key).catch(failed))
}).on('close', () => process.exit())
