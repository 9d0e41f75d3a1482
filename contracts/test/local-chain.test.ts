import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { startLocalChain } from '../local/index.ts'

/** Runs in a circle until its gas is used up, for a good part of a second. */
const SLOW = { jsonrpc: '2.0', id: 1, method: 'eth_call', params: [{ data: '0x5b600056', gas: '0x1e8480' }] }

it('closes although somebody goes on asking', async () => {
  const { rpcUrl = '', close } = await startLocalChain({ port: 0 })
  let answers = 0
  let isClosed = false
  // Almost always in the middle of an answer, so the connection is in use when the chain closes.
  const asking = (async () => {
    while (!isClosed) {
      const response = await fetch(rpcUrl, { method: 'POST', body: JSON.stringify(SLOW) }).catch(
        () => undefined,
      )
      await response?.text()
      answers += 1
    }
  })()
  while (answers < 3) await sleep(5)
  await sleep(50)
  await close()
  isClosed = true
  await asking
  // On a connection of its own: the one from before may live on for a while.
  const [error] = await once(connect(Number(new URL(rpcUrl).port), '127.0.0.1'), 'error')
  expect(error).toMatchObject({ code: 'ECONNREFUSED' })
})
