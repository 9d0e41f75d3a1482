// A shop of another kind, which is paid by plain transfers and signs receipts with the official package, and agents that submit them.
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { mintUsdc, type Product, registerIdentity } from '@referrer/contracts/local'
import {
  createReceiptEIP712,
  createReceiptJWS,
  type ReceiptInput,
  type ReceiptPayload,
  type SignedReceipt,
  signReceiptEIP712,
} from '@x402/extensions/offer-receipt'
import type { Address, Hex, LocalAccount } from 'viem'
import { until } from '../../src/machinery/workers/testing.ts'
import { call } from '../calls.ts'
import { connectMcp, type McpCaller } from '../mcp/client.ts'
import { must, sessionOf } from './caller.ts'
import { send } from './chain.ts'
import { startTestMarket, type TestMarket } from './market.ts'
import { openRecorded } from './merchants.ts'
import { sell } from './reviews.ts'
import { type Host, startHost } from './x402-world.ts'

export const PRICE = 1_000_000n
export const CONFIRMATIONS = 3

export interface ReceiptWorld {
  m: TestMarket
  mcp: McpCaller
  host: Host
  merchant: LocalAccount
  merchantId: bigint
  product: Product
  /** The endpoint of the product, at the host. */
  endpoint: string
  /** Owns agents and pays. */
  owner: LocalAccount
  close(): Promise<void>
}

export async function startReceiptWorld(env: Record<string, string> = {}): Promise<ReceiptWorld> {
  const host = await startHost()
  const m = await startTestMarket({
    confirmations: CONFIRMATIONS,
    env: {
      ALLOW_PRIVATE_HOSTS: 'true',
      RECEIPT_APPROVALS_PER_MERCHANT: '1000',
      RECEIPT_APPROVALS_PER_AGENT: '1000',
      ...env,
    },
  })
  const { merchant, reviewer: owner } = m.market.accounts
  // So that no merchant or agent of a test has the id 0.
  await registerIdentity(m.market, merchant)
  const merchantId = await openRecorded(m)
  const endpoint = `${host.origin}/buy`
  const product = await sell(m, merchantId, 1, endpoint)
  await mintUsdc(m.market, owner.address, 1_000n * PRICE)
  const mcp = await connectMcp(m)
  return {
    ...{ m, mcp, host, merchant, merchantId, product, endpoint, owner },
    async close() {
      await mcp.close()
      await m.close()
      host.close()
    },
  }
}

export async function agentOf({ m, owner }: ReceiptWorld, account = owner): Promise<bigint> {
  const agentId = await registerIdentity(m.market, account)
  await m.indexed()
  return agentId
}

/** Mines what makes all transactions so far final. */
export async function confirm({ m }: Pick<ReceiptWorld, 'm'>): Promise<void> {
  await m.market.client.mine({ blocks: CONFIRMATIONS })
}

export async function transferUsdc(
  { m, merchant, owner }: ReceiptWorld,
  {
    from = owner,
    to = merchant.address,
    value = PRICE,
  }: Partial<{ from: LocalAccount; to: Address; value: bigint }> = {},
): Promise<Hex> {
  return (await send(m, call(m, from, 'USDC', 'transfer', [to, value]))).transactionHash
}

/** Pays the shop, and waits for the confirmations. */
export async function pay(
  world: ReceiptWorld,
  payment: Parameters<typeof transferUsdc>[1] = {},
): Promise<Hex> {
  const hash = await transferUsdc(world, payment)
  await confirm(world)
  return hash
}

export const inputOf = (
  { m, endpoint, owner }: ReceiptWorld,
  transaction: Hex | undefined,
  more: Partial<ReceiptInput> = {},
): ReceiptInput => ({
  resourceUrl: endpoint,
  payer: owner.address,
  network: `eip155:${m.chainId}`,
  ...(transaction && { transaction }),
  ...more,
})

type SignTypedData = Parameters<typeof createReceiptEIP712>[1]
const signing =
  (account: LocalAccount): SignTypedData =>
  (typed) =>
    account.signTypedData(typed as Parameters<LocalAccount['signTypedData']>[0])

/** A receipt with the signature of an account. */
export const eip712 = (
  world: ReceiptWorld,
  transaction: Hex | undefined,
  more: Partial<ReceiptInput> = {},
  by = world.merchant,
): Promise<SignedReceipt> => createReceiptEIP712(inputOf(world, transaction, more), signing(by))

/** The same with any payload. */
export async function eip712Of(payload: ReceiptPayload, by: LocalAccount): Promise<SignedReceipt> {
  return { format: 'eip712', payload, signature: await signReceiptEIP712(payload, signing(by)) }
}

export const CURVES = {
  ES256K: () => generateKeyPairSync('ec', { namedCurve: 'secp256k1' }),
  ES256: () => generateKeyPairSync('ec', { namedCurve: 'prime256v1' }),
  EdDSA: () => generateKeyPairSync('ed25519'),
}

export type Algorithm = keyof typeof CURVES

export const jws = (
  world: ReceiptWorld,
  transaction: Hex | undefined,
  { kid, algorithm, privateKey }: { kid: string; algorithm: Algorithm; privateKey: KeyObject },
): Promise<SignedReceipt> =>
  createReceiptJWS(inputOf(world, transaction), {
    kid,
    format: 'jws',
    algorithm,
    async sign(bytes) {
      const key = { key: privateKey, dsaEncoding: 'ieee-p1363' as const }
      return sign(algorithm === 'EdDSA' ? null : 'sha256', bytes, key).toString('base64url')
    },
  })

export const didOf = ({ host }: Pick<ReceiptWorld, 'host'>) =>
  `did:web:${encodeURIComponent(new URL(host.origin).host)}`

/** Publishes the DID document of the host, and lets the one before expire where it is kept. */
export function publishDocument({ m, host }: ReceiptWorld, document: object | undefined): void {
  host.serves = document ? { '/.well-known/did.json': document } : {}
  m.clock.aheadMs += 61_000
}

/** Submits over REST, signed by the owner of the agent. */
export async function prove(
  { m, product, owner }: ReceiptWorld,
  agentId: bigint,
  proof_data: object,
  as = owner,
): Promise<number> {
  const about = { merchant_id: Number(product.merchantId), product_id: product.productId }
  const body = { agent_id: Number(agentId), ...about, proof_data }
  const answer = await must(m.call('POST', '/v1/proof', { as, body }))
  if (answer.status !== 'pending') throw new Error('a new proof is not pending')
  return answer.proof_id
}

export interface ProofCase {
  proof_id: number
  status: string
  reviewed_at: string | null
  reviewed_by: string | null
  note: string | null
  by_machine: boolean
  machine_note: string | null
}

/** The proof as admins see it. */
export async function caseOf({ m }: ReceiptWorld, proofId: number): Promise<ProofCase> {
  const token = await sessionOf(m.call, m.market.accounts.admin)
  for (const status of ['pending', 'approved', 'rejected']) {
    for (let page = 1; page <= 10; page += 1) {
      const { proofs } = await must(
        m.call('GET', `/admin/proofs?status=${status}&limit=20&page=${page}`, { token }),
      )
      const found = proofs.find(({ proof_id }: ProofCase) => proof_id === proofId)
      if (found) return found
      if (proofs.length < 20) break
    }
  }
  throw new Error(`admins do not see proof ${proofId}`)
}

/** Waits until a machine has looked at a proof since the note that is given, and returns what admins see. */
export async function looked(
  world: ReceiptWorld,
  proofId: number,
  since: string | null = null,
): Promise<ProofCase> {
  await until(async () => {
    const [row] = await world.m.sql`
      SELECT FROM market.receipts
      WHERE proof_id = ${proofId} AND (approved_at IS NOT NULL OR note IS DISTINCT FROM ${since})`
    return row
  }, `a machine to look at proof ${proofId}`)
  return caseOf(world, proofId)
}

export const APPROVED = {
  status: 'approved',
  by_machine: true,
  machine_note: null,
  reviewed_by: null,
  note: null,
}
export const pendingWith = (machine_note: string) => ({
  status: 'pending',
  by_machine: false,
  machine_note,
  reviewed_at: null,
})

export const BY_NOBODY =
  "the receipt is signed by none of the merchant's owner, payout wallet and settlement signers"
export const FORGED = 'the signature of the receipt is not right'
