// Relayers whose keys are in a remote signer.
import { privateKeyOf } from '@referrer/contracts/local'
import { startWeb3Signer, type TestWeb3Signer } from '@referrer/process/keys/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Books, openBooks } from '../abuse/books.ts'
import { eventually } from '../eventually.ts'
import { startTestFacilitator, type TestFacilitator } from '../harness.ts'
import { expectNothingOpen, nextPurchase } from './world.ts'

let m: TestFacilitator
let signer: TestWeb3Signer
let books: Books

beforeAll(async () => {
  signer = await startWeb3Signer([])
  m = await startTestFacilitator({ chainId: 31_492, buyers: 2, env: { LINGER_MS: '0' } })
  const [relayer] = m.relayers
  signer.load(privateKeyOf(relayer))
  Object.assign(m.env, {
    RELAYER_PRIVATE_KEYS: '',
    RELAYER_ADDRESSES: relayer.address,
    WEB3SIGNER_URL: signer.url,
    WEB3SIGNER_TIMEOUT_MS: '10000',
  })
  await m.restart()
  books = await openBooks(m)
})
afterAll(async () => {
  await m?.close()
  await signer?.close()
})

it('settle; while the signer is away the facilitator says so, is not ready, and the same payment settles once afterwards', async () => {
  expect((await m.settle((await nextPurchase(m)).body)).body).toMatchObject({ success: true })
  const made = signer.signed.length
  expect(made).toBeGreaterThan(0)

  await signer.kill()
  const { body, path } = await nextPurchase(m)
  const settling = m.settle(body)
  const isTrouble = (event: (typeof m.events)[number]) =>
    event.type === 'sender' && event.event.type === 'trouble'
  await eventually(() => m.events.some(isTrouble)).toBe(true)
  const { status, body: readiness } = await m.call('GET', '/readyz')
  expect(status).toBe(503)
  expect(readiness.checks[`chain ${m.chainId}`].detail).toMatch(
    new RegExp(`${m.relayers[0].address} cannot sign: Web3Signer at .* does not answer`),
  )
  await signer.revive()
  const first = (await settling).body
  // It may have been taken back meanwhile; then its payer is told to send it again.
  const settled = first.success ? first : (await m.settle(body)).body
  expect(settled).toMatchObject({ success: true })
  expect((await m.call('GET', path)).body).toMatchObject({
    status: 'settled',
    transaction: settled.transaction,
  })
  expect((await m.call('GET', '/readyz')).status).toBe(200)
  await expectNothingOpen(m)
  await books.audit()
})
