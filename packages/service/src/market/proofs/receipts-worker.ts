// Approves proofs by their receipts. A machine never rejects: what it cannot verify stays pending for an admin, with a note.
import { setTimeout as sleep } from 'node:timers/promises'
import { createTurns } from '@referrer/net'
import type { Chain, Context } from '../../kit/context.ts'
import { RateLimited } from '../../kit/market-error.ts'
import { backoffMs } from '../../machinery/workers/backoff.ts'
import type { Worker } from '../../machinery/workers/frame.ts'
import { workOff } from '../../machinery/workers/work-off.ts'
import { ALL_CLIENTS, type QuotaUse, spendQuota } from '../quotas/store.ts'
import { NotNow, Unproven } from '../receipts/verdict.ts'
import { type Claimed, claimReceipts, markVerified, postponeReceipt } from './receipts-store.ts'
import { decideProof } from './store.ts'
import { USED, verifyReceipt } from './verify.ts'

const POLL_MS = 1_000
const AT_ONCE = 16
/** Of these, receipts of one merchant: its host may be slow. */
const OF_MERCHANT = 2
/** Longer than a verification takes. */
const LEASE_MS = 120_000
/** After so many attempts, within about three hours, a proof is left to admins. */
export const MOST_ATTEMPTS = 12
const BACKOFF = { firstMs: 5_000, maxMs: 3_600_000 }

/** Replicas share the proofs; a look that finds nothing reads one entry of an index. */
export const receiptsWorker = (context: Context): Worker => ({
  name: 'receipts',
  async run(signal, frame) {
    const aborted = new Promise<number>((resolve) => {
      frame.abort.addEventListener('abort', () => resolve(0), { once: true })
    })
    while (!signal.aborted) {
      let claimed = 0
      try {
        // At the end of the drain nobody waits for a node or a host any more: what was claimed is due again after its lease.
        claimed = await Promise.race([verifyDue(context, signal), aborted])
        frame.working()
      } catch (error) {
        frame.failing(error)
      }
      if (claimed === 0) await sleep(POLL_MS, undefined, { signal }).catch(() => {})
    }
  },
})

/** Looks at all that is due. Returns how many it claimed. */
async function verifyDue(context: Context, signal: AbortSignal): Promise<number> {
  const turn = createTurns(AT_ONCE, { merchant: OF_MERCHANT })
  return workOff(async (start) => {
    if (signal.aborted || turn.free() === 0) return
    const claimed = await claimReceipts(context.sql, {
      chainIds: [...context.chains.keys()],
      now: new Date(context.clock()),
      leaseMs: LEASE_MS,
      not: turn.full('merchant'),
      limit: turn.free(),
    })
    for (const one of claimed) start(turn(() => look(context, one), { merchant: String(one.merchant_id) }))
  }, NEVER)
}

/** What is claimed is looked at to its end. */
const NEVER = new AbortController().signal

async function look(context: Context, claimed: Claimed): Promise<void> {
  const chain = context.chains.get(claimed.chain_id)
  if (!chain) return
  try {
    // Somebody may have crashed over it every time.
    if (claimed.attempts > MOST_ATTEMPTS) throw new Unproven('a machine could not finish its verification')
    await verifyReceipt(context, chain, claimed)
    await approve(context, chain, claimed)
  } catch (error) {
    if (!(error instanceof NotNow || error instanceof Unproven)) throw error
    const isOver = error instanceof Unproven || claimed.attempts >= MOST_ATTEMPTS
    const inMs = backoffMs(claimed.attempts, BACKOFF, Math.random)
    await postponeReceipt(context.sql, claimed, {
      dueAt: isOver ? null : new Date(context.clock() + inMs),
      note: error.message,
    })
  }
}

/** In one transaction with what the approval rests on and counts against, so that it happens once or not at all. */
async function approve(
  { sql, clock, config, log }: Context,
  { config: { chainId } }: Chain,
  claimed: Claimed,
): Promise<void> {
  const { proof_id: proofId } = claimed
  const now = clock()
  const at = new Date(now)
  const isApproved = await sql.begin(async (tx) => {
    const decision = { status: 'approved', note: null, by: null, at } as const
    const outcome = await decideProof(tx, chainId, proofId, decision)
    // An admin was faster.
    if (outcome.state !== 'decided') return false
    if (!outcome.isFirstUse) throw new Unproven(USED)
    for (const use of boundsOf(config.receiptApprovals, chainId, claimed)) await spendWithin(tx, now, use)
    await markVerified(tx, proofId, at)
    return true
  })
  if (isApproved) log.info({ chainId, proofId: String(proofId) }, 'a receipt approved a proof')
}

/** Approvals are counted as the bytes of a quota are. */
function boundsOf(
  { ofMerchant, ofAgent, all }: Context['config']['receiptApprovals'],
  chainId: number,
  { merchant_id, agent_id }: Claimed,
): QuotaUse[] {
  const use = (what: string, who: Buffer, most: number) => ({ what, who, bytes: 1, most })
  const named = (id: bigint) => Buffer.from(`${chainId}/${id}`)
  return [
    use('approvals of this agent by receipt', named(agent_id), ofAgent),
    use('approvals of this merchant by receipt', named(merchant_id), ofMerchant),
    use('approvals by receipt', ALL_CLIENTS, all),
  ]
}

async function spendWithin(tx: Parameters<typeof spendQuota>[0], now: number, use: QuotaUse): Promise<void> {
  try {
    await spendQuota(tx, now, use)
  } catch (error) {
    if (!(error instanceof RateLimited)) throw error
    throw new Unproven(`${use.what} have reached their bound of the day, ${use.most}`)
  }
}
