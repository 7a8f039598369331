// Three clients acquire one lock on three servers at the same time. Each has one server near, and 15 ms to the two others.
import { Redis } from 'ioredis'
import { Redlock as Fork } from '@sesamecare-oss/redlock'
import Redlock5 from 'redlock'
import Redlock4 from 'redlock-4'

const ports = process.argv.slice(2)
const seconds = since => `${((Date.now() - since) / 1000).toFixed(2)} s`
const sleep = milliseconds => new Promise(resolve => setTimeout(resolve, milliseconds))

async function connections(near) {
  const all = ports.map(port => new Redis({ port, lazyConnect: true }))
  await Promise.all(all.map(store => store.connect()))
  for (const store of all.filter((_, index) => index !== near)) {
    const send = store.sendCommand.bind(store)
    store.sendCommand = (command, stream) => {
      setTimeout(send, 15, command, stream)
      return command.promise
    }
  }
  return all
}

// Three clients acquire at the same time; each holds the lock for 20 ms. Prints when the first client has it, and how many get it.
async function contend(name, Class, lease, settings) {
  const clients = await Promise.all([0, 1, 2].map(async near => new Class(await connections(near), settings)))
  const call = (redlock, key) => (redlock.acquire ? redlock.acquire([key], lease) : redlock.lock(key, lease))
  const release = lock => (lock.release ? lock.release() : lock.unlock())
  for (const [index, redlock] of clients.entries()) await release(await call(redlock, `warm-up ${index}`))
  const began = Date.now()
  let [granted, first] = [0, 'nobody']
  const client = async redlock => {
    const lock = await call(redlock, name)
    granted += 1
    if (granted === 1) first = seconds(began)
    await sleep(20)
    await release(lock)
  }
  const answers = await Promise.allSettled(clients.map(client))
  const errors = answers.filter(answer => answer.status === 'rejected').map(answer => answer.reason.message)
  console.log(`${name}: first acquired after ${first}; ${granted} of 3 clients acquired it within ${seconds(began)}`)
  if (errors.length) console.log(`  ${errors[0]}`)
}

for (const [name, Class] of [['@sesamecare-oss/redlock 1.4.0', Fork], ['redlock 5.0.0-beta.2', Redlock5], ['redlock 4.2.0', Redlock4]]) {
  await contend(`${name}, default settings, lease of 10 s`, Class, 10_000)
  await contend(`${name}, retryCount: -1, lease of 4 s`, Class, 4000, { retryCount: -1 })
}
process.exit()
