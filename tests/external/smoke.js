// The default connections of ioredis and node-redis against the served node: no options.
const assert = require("assert");
const Redis = require("ioredis");
const { createClient } = require("redis");

const port = Number(process.argv[2]);

async function ioredis() {
  const client = new Redis(port);
  assert.equal(await client.set("smoke", "1", "PX", 5000, "NX"), "OK");
  assert.equal(await client.get("smoke"), "1");
  assert.deepEqual(await client.multi().incr("smoke-count").del("smoke-count").exec(), [[null, 1], [null, 1]]);
  await client.del("smoke");
  client.disconnect();
}

async function nodeRedis() {
  const client = createClient({ url: `redis://127.0.0.1:${port}` });
  await client.connect();
  assert.equal(await client.set("smoke", "1", { NX: true, PX: 5000 }), "OK");
  assert.equal(await client.get("smoke"), "1");
  assert.deepEqual(await client.multi().incr("smoke-count").del("smoke-count").exec(), [1, 1]);
  await client.del("smoke");
  client.destroy();
}

ioredis()
  .then(nodeRedis)
  .then(() => console.log("ioredis and node-redis ok"))
  .catch((error) => {
    console.error(error);
    process.exit(1);
  });
