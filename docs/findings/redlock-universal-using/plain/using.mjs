// One server of three is stopped (SIGSTOP). A client holds the lock in using(); a second client tries to acquire it. Its adapters have a
// time-out of 1 s, so that its attempts are short; all other settings are the defaults.
import { Redis } from 'ioredis'
import { createRedlock, IoredisAdapter } from 'redlock-universal'

const [pid, ...ports] = process.argv.slice(2).map(Number)
const adapters = settings => ports.map(port => new IoredisAdapter(new Redis({ port }), settings))
const sleep = milliseconds => new Promise(resolve => setTimeout(resolve, milliseconds))
const began = Date.now()
const say = text => console.log(`${((Date.now() - began) / 1000).toFixed(1)} s: ${text}`)

const first = createRedlock({ adapters: adapters(), key: 'job', ttl: 30_000 })
const second = createRedlock({ adapters: adapters({ timeout: 1000 }), key: 'job', ttl: 30_000, retryAttempts: 100 })
await sleep(500)
process.kill(pid, 'SIGSTOP')
say('one server of three is stopped')

let working = true
const work = first.using(async signal => {
  say(`the first client has acquired the lock: aborted: ${signal.aborted}`)
  while (!signal.aborted && Date.now() - began < 50_000) await sleep(20)
  working = false
  say(`the first client ends its work: aborted: ${signal.aborted}`)
})
await sleep(8000)
const handle = await second.acquire()
say(`the second client has acquired the lock, while the first client works: ${working}`)
await work
await second.release(handle)
process.exit()
