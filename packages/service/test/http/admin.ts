import { Writable } from 'node:stream'
import { registerIdentity } from '@referrer/contracts/local'
import { createLog } from '@referrer/process'
import type { LocalAccount } from 'viem'
import type { Overrides } from '../../src/app/service.ts'
import { must, sessionOf } from './caller.ts'
import { startTestMarket, type TestMarket } from './market.ts'

export const CHAINS = [31_337, 31_338]

/** A market with an admin's session and an agent of the reviewer. */
export interface AdminDesk {
  m: TestMarket
  admin: LocalAccount
  reviewer: LocalAccount
  /** The token of the admin's session. */
  token: string
  agentId: number
  /** Lines that the service has logged. */
  logged: Record<string, unknown>[]
}

export async function startAdminDesk(overrides: Overrides = {}): Promise<AdminDesk> {
  const logged: Record<string, unknown>[] = []
  const destination = new Writable({
    write(line, _encoding, done) {
      logged.push(JSON.parse(String(line)))
      done()
    },
  })
  const m = await startTestMarket({
    chainIds: CHAINS,
    overrides: { log: createLog('info', destination), ...overrides },
  })
  const { admin, reviewer } = m.market.accounts
  // The first identity has the id 0, which some routes refuse.
  await registerIdentity(m.market, admin)
  const agentId = Number(await registerIdentity(m.market, reviewer))
  await m.indexed()
  return { m, admin, reviewer, token: await sessionOf(m.call, admin), agentId, logged }
}

/** The path of a route with the same number for every parameter. */
export const pathOf = (path: string, id: number) => path.replaceAll(/\{\w+\}/g, String(id))

/** Returns the proof id. */
export async function submitProof(
  { m, reviewer, agentId }: AdminDesk,
  productId: string,
  proofData = '{"seen":"it"}',
): Promise<number> {
  const body = `{"agent_id":${agentId},"merchant_id":3,"product_id":"${productId}","proof_data":${proofData}}`
  return (await must(m.call('POST', '/v1/proof', { as: reviewer, body }))).proof_id
}
