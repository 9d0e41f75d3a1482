import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '@referrer/net/free-port'
import { Secret } from '@referrer/process'
import { expect, it } from 'vitest'
import { until } from '../../src/machinery/workers/testing.ts'
import { secretOf, signedHeaders } from '../../src/market/webhooks/secrets.ts'

const root = join(import.meta.dirname, '../../../..')

it('the receiver of the guide prints a sale once, and refuses what we have not signed', async () => {
  const guide = await readFile(join(root, 'docs/selling.md'), 'utf8')
  const [, code = ''] = /## Hear of sales.*?```js\n(.*?)```/s.exec(guide) ?? []
  expect(code).toContain('standardwebhooks')
  // Inside the repository, where the library is found.
  const cache = join(root, 'node_modules/.cache')
  await mkdir(cache, { recursive: true })
  const folder = await mkdtemp(join(cache, 'receiver-'))
  await writeFile(join(folder, 'receiver.mjs'), code)
  const key = new Secret('12'.repeat(32))
  const state = { webhook_id: 'wh_1', secret_version: 1, old_secret_until: null }
  const port = await freePort()
  const child = spawn(process.execPath, [join(folder, 'receiver.mjs')], {
    env: { ...process.env, WEBHOOK_SECRET: secretOf(key, state), PORT: String(port) },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let printed = ''
  child.stdout.on('data', (chunk) => {
    printed += chunk
  })
  try {
    await until(() => printed.includes('listening'), 'the receiver')
    const body = JSON.stringify({
      type: 'purchase.settled',
      timestamp: new Date().toISOString(),
      data: { product_id: '0x07', price_usdc: 100_000 },
    })
    const send = async (signer: Secret) => {
      const headers = signedHeaders([signer], state, { id: 'msg_1', at: new Date(), body })
      return (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body })).status
    }
    const statuses = [await send(key), await send(key), await send(new Secret('34'.repeat(32)))]
    expect(statuses).toEqual([204, 204, 401])
    await until(() => printed.includes('sold'), 'the sale')
    expect(printed).toBe('listening\nsold 0x07 for 100000 base units\n')
  } finally {
    child.kill()
    await rm(folder, { recursive: true })
  }
})
