// One intent: bought, skipped for good, or left for the next poll.
import { AttributionToken, RefLink } from '@referrer/protocol'
import { z } from 'zod'
import { withBackend } from '../backend.ts'
import { time } from '../fields.ts'
import { Bought } from '../purchase/earlier-purchases.ts'
import { keyHash, openJournal } from '../purchase/journal.ts'
import { withLock } from '../purchase/lock.ts'
import type { Order } from '../purchase/order.ts'
import { pay, quote } from '../purchase/pay.ts'
import { resourceOf } from '../purchase/resource.ts'
import { explain, NotBought } from '../refused.ts'
import { nameOf, usdc } from './output.ts'
import { type Intent, Purchase } from './queue.ts'
import type { IntentRecord } from './records.ts'
import type { Runner } from './runner.ts'

/**
 * A payment that another machine began before this one refused the intent is on the chain after this time, or has expired: it is valid for 65
 * seconds, and 20 more a reorganisation could bring it back. The rest is for clocks that differ.
 */
const PAYABLE_MS = 120_000

/** Returns whether the intent needs no more attention. A lock keeps two runners with the same journal from working on it at once. */
export async function execute(runner: Runner, intent: Intent): Promise<boolean> {
  const { context, records, output } = runner
  const { intent_id: intentId, type } = intent
  const about = nameOf(intentId)
  if (type !== 'buy_product') {
    output.sayOnce(intentId, `${about} is of type ${type}, which this runner does not know: left as it is`)
    return true
  }
  const purchase = Purchase.safeParse(intent.payload)
  if (!purchase.success) {
    return skip(runner, intentId, `this runner cannot read the intent: ${problemOf(purchase.error)}`)
  }
  const { SIGNER_STATE_DIR: stateDir } = context.config
  try {
    if (runner.isDryRun) return await estimate(runner, intentId, purchase.data)
    return await withLock(stateDir, records.stemOf(intentId), context.timeouts.lock, async () => {
      const earlier = await records.find(intentId)
      if (!earlier) return buy(runner, intentId, purchase.data)
      output.sayOnce(intentId, `${about} was bought before: ${earlier.result}`)
      return mark(runner, earlier)
    })
  } catch (error) {
    output.sayOnce(intentId, `${about} waits for the next poll: ${explain(error)}`)
    return false
  }
}

async function buy(runner: Runner, intentId: string, purchase: Purchase): Promise<boolean> {
  const { context, chainId, records, output } = runner
  const name = await productName(runner, purchase)
  const what = `${nameOf(intentId)} buy ${JSON.stringify(name)} up to ${usdc(purchase.max_amount)}`
  const refusedSince = await records.takeRefusal(intentId)
  // Nobody waits for the answer who could give up, and a purchase under way is finished.
  const { signal } = new AbortController()
  let done: Done
  try {
    const paid = await pay(context, orderOf(runner, purchase), { wanted: chainId, signal })
    const { escrowId, transaction } = paid.money
    done = { escrowId, transaction, amount: paid.amount, resource: resourceOf(paid.answer) }
  } catch (error) {
    if (error instanceof NotBought && !(await isSigned(runner, purchase))) {
      const now = context.now()
      // `pay` has looked on the chain: whatever another machine had begun is not there.
      if (now - (refusedSince ?? now) >= PAYABLE_MS) return skip(runner, intentId, error.message, what)
      await records.saveRefusal(intentId, refusedSince ?? now)
      output.sayOnce(
        intentId,
        `${what} … is refused, and skipped if it still is in ${PAYABLE_MS / 60_000} minutes, because another machine may be paying for it: ${error.message}`,
      )
      return false
    }
    if (!(error instanceof Bought)) {
      output.sayOnce(intentId, `${what} … waits for the next poll: ${explain(error)}`)
      return false
    }
    const served = error.data?.resource as IntentRecord['resource'] | undefined
    done = { ...error.purchase, resource: served ?? null, problem: error.problem ?? 'bought before' }
  }
  const record = recordOf(runner, { intentId, name, purchase, done })
  await records.save(record)
  output.say(`${what} … ${record.result}`)
  return mark(runner, record)
}

interface Done {
  escrowId: number
  transaction: string | null
  amount: bigint | null
  resource: IntentRecord['resource']
  problem?: string
}

function recordOf(
  { context }: Runner,
  { intentId, name, purchase, done }: { intentId: string; name: string; purchase: Purchase; done: Done },
): IntentRecord {
  const { merchantId, productId, reviewId } = termsOf(purchase)
  const { escrowId, transaction, amount, resource, problem } = done
  const parts = [
    amount === null ? 'paid from another machine' : `paid ${usdc(amount)}`,
    `escrow ${escrowId}`,
    ...(transaction ? [`transaction ${transaction}`] : []),
  ]
  return {
    intentId,
    name,
    merchantId,
    productId,
    reviewId,
    escrowId,
    transaction,
    amount: amount === null ? null : String(amount),
    boughtAt: time(Math.floor(context.now() / 1_000)),
    resource,
    result: parts.join(', ') + (problem ? ` (${problem})` : ''),
    isMarked: false,
    review: purchase.review ? { state: 'due', tries: 0, nextAt: 0, draft: null } : null,
  }
}

/** Marks what an earlier pass bought and could not mark. */
export async function markEarlier(runner: Runner, { intentId, isMarked }: IntentRecord): Promise<boolean> {
  if (isMarked) return true
  const { context, records, output } = runner
  const { SIGNER_STATE_DIR: stateDir } = context.config
  try {
    return await withLock(stateDir, records.stemOf(intentId), context.timeouts.lock, async () => {
      const newest = await records.find(intentId)
      return !newest || mark(runner, newest)
    })
  } catch (error) {
    output.sayOnce(intentId, `${nameOf(intentId)} is bought and not marked yet: ${explain(error)}`)
    return false
  }
}

/** Called with the lock of the intent. The purchase is on record, so a failure here is repaired by a later poll. */
async function mark(runner: Runner, record: IntentRecord): Promise<boolean> {
  const { queue, records, output } = runner
  if (record.isMarked) return true
  const about = nameOf(record.intentId)
  try {
    const isMarked = await queue.markExecuted(record.intentId, record.result)
    await records.save({ ...record, isMarked: true })
    output.say(isMarked ? `${about} marked executed` : `${about} had been closed already`)
    return true
  } catch (error) {
    output.sayOnce(record.intentId, `${about} is bought and not marked yet: ${explain(error)}`)
    return false
  }
}

async function skip(
  { queue, output, isDryRun }: Runner,
  intentId: string,
  reason: string,
  what = nameOf(intentId),
): Promise<boolean> {
  if (isDryRun) {
    output.sayOnce(intentId, `${what} … would be skipped: ${reason}`)
    return true
  }
  try {
    const isSkipped = await queue.markSkipped(intentId, reason)
    output.say(`${what} … skipped${isSkipped ? '' : ', and had been closed already'}: ${reason}`)
    return true
  } catch (error) {
    output.sayOnce(intentId, `${what} … is to be skipped (${reason}), but: ${explain(error)}`)
    return false
  }
}

async function estimate(runner: Runner, intentId: string, purchase: Purchase): Promise<boolean> {
  const { context, chainId, records, output } = runner
  const name = await productName(runner, purchase)
  const what = `${nameOf(intentId)} buy ${JSON.stringify(name)} up to ${usdc(purchase.max_amount)}`
  const earlier = await records.find(intentId)
  if (earlier) {
    output.sayOnce(intentId, `${what} … was bought before, would be marked executed: ${earlier.result}`)
    return true
  }
  try {
    const { amount } = await quote(context, orderOf(runner, purchase), { wanted: chainId })
    output.sayOnce(intentId, `${what} … would pay ${usdc(amount)}`)
    return true
  } catch (error) {
    if (error instanceof NotBought) return skip(runner, intentId, error.message, what)
    const isBought = error instanceof Bought
    output.sayOnce(intentId, `${what} … would ${isBought ? 'be marked executed' : 'wait'}: ${explain(error)}`)
    return isBought
  }
}

const orderOf = ({ agentId }: Runner, purchase: Purchase): Order => ({
  refLink: purchase.ref_link,
  agentId,
  votes: undefined,
  maxAmount: purchase.max_amount,
  idempotencyKey: purchase.idempotency_key,
  query: '',
  posted: null,
})

const termsOf = ({ ref_link }: Purchase) => AttributionToken.decodeUnverified(RefLink.parse(ref_link).token)

/** Whether an earlier try signed a payment that was used or may still be: such an intent is never skipped. */
async function isSigned({ context, chainId, agentId }: Runner, purchase: Purchase): Promise<boolean> {
  const { SIGNER_STATE_DIR: stateDir, keys } = context.config
  const journal = openJournal(stateDir, chainId, keys.ofAgent(agentId).address)
  const entry = await journal.findByKey(keyHash(purchase.idempotency_key))
  if (!entry || entry.token !== RefLink.parse(purchase.ref_link).token) return false
  return entry.outcome === null || entry.outcome.state === 'settled'
}

/** For people; the purchase does not depend on it. */
async function productName({ context, chainId }: Runner, purchase: Purchase): Promise<string> {
  try {
    const { merchantId: merchant_id, productId: product_id } = termsOf(purchase)
    const asked = { merchant_id, product_id, chain_id: chainId }
    const product = await withBackend(context, (ask) => ask('get_merchant_product', asked))
    return z
      .object({ name: z.string().min(1) })
      .parse(product)
      .name.slice(0, 60)
  } catch {
    return 'a product'
  }
}

const problemOf = ({ issues }: z.ZodError) =>
  issues.map(({ path, message }) => [...path, message].join(' ')).join('; ')
