// redlock 5 on ioredis; with the word `odd`, on one store less.
import { createInterface } from 'node:readline'
import Redis from 'ioredis'
import Redlock, { ExecutionError } from 'redlock'

const urls = process.env.PICKLOCK_STORES.split(',')
const stores = urls.slice(process.argv.includes('odd') ? 1 : 0).map(url => new Redis(url))
stores.forEach(store => store.on('error', () => {}))
const redlock = new Redlock(stores)
const ttl = Number(process.env.PICKLOCK_TTL_MS)
const held = new Map()

async function answer(verb, key) {
  if (verb === 'acquire') {
    held.set(key, await redlock.acquire([key], ttl))
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
