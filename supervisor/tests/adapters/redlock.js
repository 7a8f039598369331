// Two libraries as they are: ioredis and redlock.
const Redis = require('ioredis'), Redlock = require('redlock')
const redlock = new Redlock([new Redis(6379, 'store')], { retryCount: 3, retryDelay: 50, retryJitter: 20 })
let lock
const commands = {
  acquire: async key => { lock = await redlock.lock(key, 1000); return 'granted' },
  release: async () => { await lock.unlock(); return 'released :1' },
}
require('readline').createInterface({ input: process.stdin }).on('line', async line => {
  const [name, key] = line.split(' ')
  console.log(await commands[name](key).catch(() => 'refused'))
}).on('close', () => process.exit())
