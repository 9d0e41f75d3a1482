// Asking for a plain transfer to be charged, and what comes of it.
import { confirmed, mintUsdc, registerIdentity } from '@referrer/contracts/local'
import { Attribution, Commitment } from '@referrer/protocol'
import { sandboxUSDCAbi } from '@referrer/protocol/abi'
import { type Address, type Hash, type Hex, keccak256, type LocalAccount, stringToBytes } from 'viem'
import { expect } from 'vitest'
import type { Answer } from './asking.ts'
import { PRICE, startTestFacilitator, type TestFacilitator } from './harness.ts'

export interface Signed {
  txHash: Hash
  attributionToken?: string
  buyerAgentId?: string
  payer?: Address
}

export interface Charging extends TestFacilitator {
  /** Of the account `buyer`. */
  buyerAgentId: bigint
  usdc: { address: Address; abi: typeof sandboxUSDCAbi }
  transfer(account: LocalAccount, value?: bigint, to?: Address): Promise<Hash>
  /** A body that is charged. */
  bodyOf(payer: LocalAccount, signed: Signed): Promise<Signed & { buyerSignature: Hex }>
  charge(body: unknown): Promise<Answer>
  /** Split. */
  mustCharge(body: unknown): Promise<{ transaction: Hash; payer: Address; escrow: unknown }>
  /** Refused without a trace: the money is where it was. Returns the message. */
  expectRefused(body: unknown, refused: Record<string, unknown>): Promise<string>
  /** Refused, with the call that gives the payer the money again, whoever makes it. */
  expectTakenBack(payer: LocalAccount, body: unknown, errorReason: string, value?: bigint): Promise<void>
}

export async function startCharging(env: Record<string, string> = {}): Promise<Charging> {
  const m = await startTestFacilitator({ buyers: 0, env })
  const { buyer, walletBuyer, reviewer } = m.market.accounts
  for (const { address } of [buyer, walletBuyer, reviewer]) await mintUsdc(m.market, address, 1_000_000_000n)
  const usdc = { address: m.till.usdc, abi: sandboxUSDCAbi } as const
  const network = `eip155:${m.chainId}`
  const charge = (body: unknown) => m.call('POST', '/mpp/charge', { body })

  function sign(
    signer: LocalAccount,
    { txHash, attributionToken, buyerAgentId, payer }: Signed,
  ): Promise<Hex> {
    const commitment = Commitment.from('ChargeCommitment', {
      chainId: m.chainId,
      splitRouter: m.till.router,
      message: {
        txHash,
        tokenHash: keccak256(stringToBytes(attributionToken ?? m.till.attributionToken)),
        buyerAgentId: buyerAgentId ? BigInt(buyerAgentId) : Attribution.AGENTLESS_BUYER_ID,
        payer: payer ?? signer.address,
      },
    })
    return signer.signTypedData(commitment as Parameters<typeof signer.signTypedData>[0])
  }

  return Object.assign(m, {
    buyerAgentId: await registerIdentity(m.market, buyer),
    usdc,
    charge,
    async transfer(account: LocalAccount, value = PRICE, to = m.till.router) {
      const call = { ...usdc, functionName: 'transfer', args: [to, value] } as const
      const hash = await m.chain.client.writeContract({ ...call, account })
      await confirmed(m.market, hash)
      return hash
    },
    bodyOf: async (payer: LocalAccount, signed: Signed) => ({
      attributionToken: m.till.attributionToken,
      chainId: m.chainId,
      ...signed,
      buyerSignature: await sign(payer, signed),
    }),
    async mustCharge(body: unknown) {
      const answer = await charge(body)
      expect(answer).toMatchObject({ status: 200, body: { success: true, network } })
      const [escrow] = await m.escrowsIn(answer.body.transaction)
      return { ...answer.body, escrow }
    },
    async expectRefused(body: unknown, refused: Record<string, unknown>) {
      const before = await m.balanceOf(m.till.router)
      const answer = await charge(body)
      expect(answer).toMatchObject({
        status: 200,
        body: { success: false, transaction: '', network, ...refused },
      })
      expect(answer.body.retryable).toBe(refused.retryable)
      expect(await m.balanceOf(m.till.router)).toBe(before)
      return answer.body.errorMessage
    },
    async expectTakenBack(payer: LocalAccount, body: unknown, errorReason: string, value = PRICE) {
      const before = await m.balanceOf(payer.address)
      const { address: relayer } = m.relayers[0]
      const sent = () => m.chain.client.getTransactionCount({ address: relayer, blockTag: 'pending' })
      const count = await sent()
      const answer = await charge(body)
      expect(answer).toMatchObject({ status: 200, body: { success: false, errorReason, transaction: '' } })
      expect(answer.body).not.toHaveProperty('retryable')
      expect(answer.body.errorMessage).toContain('its payer takes it back now')
      const { to, data, not_before } = answer.body.take_back
      expect({ to, not_before }).toEqual({ to: m.till.router, not_before: 0 })
      const account = m.market.accounts.stranger
      await confirmed(m.market, await m.chain.client.sendTransaction({ account, to, data, chain: null }))
      expect((await m.balanceOf(payer.address)) - before).toBe(value)
      expect(await sent(), 'we send nothing for it').toBe(count)
    },
  })
}
