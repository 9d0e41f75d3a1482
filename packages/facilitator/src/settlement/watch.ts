// Follows what was sent until its outcome is final, and writes the outcome down. Whoever reads the rows finds what the chain says.
import { setTimeout as sleep } from 'node:timers/promises'
import {
  handOverTransaction,
  RpcError,
  readTransaction,
  type TransactionStatus,
  withdrawTransaction,
} from '@referrer/chain'
import { type Address, type Hash, hexToBigInt, isAddressEqual } from 'viem'
import type { Chain, Context } from '../context.ts'
import type { PaymentKey } from '../payment/payment.ts'
import { endingsOf, type Receipt } from './outcome.ts'
import { gasFor } from './prices.ts'
import {
  blameGained,
  type Ending,
  markFinal,
  openIntents,
  record,
  recordUnsent,
  reopen,
  rowsOfIntent,
} from './store.ts'

export type Sent =
  /** `burned`: gas that each of those that failed used. */
  | { isSent: true; endings: Ending[]; hasReverted: boolean; block: number; burned: bigint }
  /** It never left, and never will. */
  | { isSent: false; reason: string }

export interface Watch {
  /** What became of it when it was first mined, or that it was not sent. What is left out is read. */
  follow(intentId: bigint, known?: { relayer: Address; keys: PaymentKey[] }): Promise<Sent>
  /** How many transactions of a relayer wait to be mined. */
  waiting(relayer: Address): number
  /** Something has happened to an intent. */
  wake(intentId: bigint): void
  run(signal: AbortSignal): Promise<void>
}

interface Flight {
  intentId: bigint
  relayer: Address | undefined
  /** Who could not send it. */
  heldBy: Set<Address>
  /** By the clock that never jumps. */
  since: number
  keys: PaymentKey[] | undefined
  first: PromiseWithResolvers<Sent>
  isWaiting: boolean
  /** A node has it: what it does not use of its gas money comes back. */
  isSent: boolean
  /** Where it was seen mined, and what it did there. */
  seen: { blockHash: Hash; endings: Ending[] } | undefined
  looking: Promise<void> | undefined
  lookAgain: boolean
}

/** What the sender cannot send for so long it will not send in time: better to say so while the payment can still be made. */
const SEND_WITHIN_MS = 15_000
const NO_GAS = 'no relayer of this facilitator can pay for gas now; its operator has to send some'
const LOOK_EVERY_MS = 1_000
/** Gas of a purchase in a batch, as measured. */
const USUAL = 105_000n
/** What a purchase that failed used at least: its data, and the token's refusal. */
const LEAST_BURNED = 30_000n
/** Of the gas that a fee pays for, one half is trust for its payer, and the other for the code that the payer runs. */
const TRUSTED = 2n
/** Where gas costs next to nothing, a fee pays for more of it than the records can hold; so much is of no use to anybody. */
const MOST_TRUST = 1_000_000_000_000n
/** Another process may have died since, or the database while it was told. */
const ADOPT_EVERY_MS = 5_000

export function createWatch(
  { sql, log, config, clock }: Pick<Context, 'sql' | 'log' | 'config' | 'clock'>,
  chain: Chain,
  onMined: () => void,
): Watch {
  const flights = new Map<bigint, Flight>()

  const waiting = (relayer: Address) =>
    [...flights.values()].filter((flight) => flight.isWaiting && flight.relayer === relayer).length

  const follow: Watch['follow'] = (intentId, known) => {
    let flight = flights.get(intentId)
    if (!flight) {
      flight = {
        intentId,
        relayer: known?.relayer,
        heldBy: new Set(),
        since: performance.now(),
        keys: known?.keys,
        first: Promise.withResolvers(),
        isWaiting: true,
        isSent: false,
        seen: undefined,
        looking: undefined,
        lookAgain: false,
      }
      flights.set(intentId, flight)
      look(flight)
    }
    return flight.first.promise
  }

  function trustFor(fee: bigint): bigint {
    const trust = gasFor(config, fee) / TRUSTED
    return trust < MOST_TRUST ? trust : MOST_TRUST
  }

  /** One look at a time for each; what happens meanwhile is looked at after it. */
  function look(flight: Flight): void {
    if (flight.looking) {
      flight.lookAgain = true
      return
    }
    flight.looking = lookOnce(flight)
      .catch((err) => {
        if (!(err instanceof RpcError))
          log.warn({ err, intent: String(flight.intentId) }, 'an outcome is read later')
      })
      .finally(() => {
        flight.looking = undefined
        if (flight.lookAgain && flights.has(flight.intentId)) {
          flight.lookAgain = false
          look(flight)
        }
      })
  }

  async function lookOnce(flight: Flight): Promise<void> {
    const status = await readTransaction(sql, { id: flight.intentId })
    if (!status) throw new Error(`intent ${flight.intentId} is not in the outbox`)
    flight.relayer = chain.relayers.find(({ address }) => isAddressEqual(address, status.from))?.address
    flight.isSent = status.state === 'sent'
    const isFinal = status.state === 'confirmed' || status.state === 'failed'
    if (status.mined) await lookAtBlock(flight, status.mined, isFinal)
    else if (status.state === 'failed') await giveUp(flight, status.reason ?? 'it was not sent')
    else if (flight.seen) await forget(flight)
    else if (status.state === 'enqueued' && !(await handOver(flight, status)))
      await withdrawIfHopeless(flight, status)
  }

  async function lookAtBlock(
    flight: Flight,
    { hash, blockNumber: block, blockHash }: { hash: Hash; blockNumber: number; blockHash: Hash },
    isFinal: boolean,
  ): Promise<void> {
    const { intentId, seen } = flight
    if (seen?.blockHash !== blockHash) {
      const receipt = await chain.rpc.request<(Receipt & { blockHash: Hash }) | null>(
        'eth_getTransactionReceipt',
        [hash],
      )
      // This node is behind, or ahead: it is looked at again.
      if (receipt?.blockHash !== blockHash) return
      flight.keys ??= (await rowsOfIntent(sql, intentId)).map(({ key }) => key)
      const endings = endingsOf(chain, receipt, flight.keys)
      const earned = endings.map((ending) => ({ ...ending, earned: trustFor(ending.fee) }))
      const gasUsed = hexToBigInt(receipt.gasUsed)
      const hasReverted = receipt.status !== '0x1'
      if (!seen && hasReverted && endings.length > 1)
        await blameGained(sql, chain.chainId, intentId, gasUsed, clock())
      await record(sql, intentId, earned, isFinal)
      if (seen && !isSame(seen.endings, endings))
        log.error({ intent: String(intentId), before: seen.endings, endings }, 'a new block changed outcomes')
      flight.seen = { blockHash, endings }
      mined(flight, { isSent: true, endings, hasReverted, block, burned: burnedEach(gasUsed, endings) })
    } else if (isFinal) await markFinal(sql, intentId)
    if (isFinal) flights.delete(intentId)
  }

  async function forget(flight: Flight): Promise<void> {
    await reopen(sql, flight.intentId)
    flight.seen = undefined
    log.warn({ intent: String(flight.intentId) }, 'the block of a settlement is gone; it is sent again')
  }

  /** What one relayer cannot send, for want of gas say, the next may. False: there is no need, or everybody was asked. */
  async function handOver(
    flight: Flight,
    { id, from, reason }: Pick<TransactionStatus, 'id' | 'from' | 'reason'>,
  ): Promise<boolean> {
    const { relayer, heldBy } = flight
    if (reason === null || !relayer) return false
    heldBy.add(relayer)
    chain.roster.spare(relayer)
    const others = chain.roster.able().filter((address) => !heldBy.has(address))
    const [to] = others.toSorted((a, b) => waiting(a) - waiting(b))
    if (!to) return false
    log.warn({ intent: String(id), from: relayer, to, reason }, 'another relayer is to send it')
    await handOverTransaction(sql, id, { from, to })
    return true
  }

  /** What nobody can pay for is not worth waiting for: gas money comes by hand, and with it the same payment. */
  async function withdrawIfHopeless(
    flight: Flight,
    { reason, lacksFunds }: TransactionStatus,
  ): Promise<void> {
    const isBroke = lacksFunds && ![...flights.values()].some(isOnItsWay)
    if (!isBroke && performance.now() - flight.since < SEND_WITHIN_MS) return
    const why = isBroke ? NO_GAS : (reason ?? 'the chain could not be reached in time')
    const isOut = await sql.begin(async (tx) => {
      if (!(await withdrawTransaction(tx, flight.intentId))) return false
      await recordUnsent(tx, flight.intentId, why)
      return true
    })
    if (isOut) await giveUp(flight, why)
  }

  async function giveUp(flight: Flight, reason: string): Promise<void> {
    await sql.begin((tx) => recordUnsent(tx, flight.intentId, reason))
    flights.delete(flight.intentId)
    mined(flight, { isSent: false, reason })
  }

  function mined(flight: Flight, sent: Sent): void {
    flight.first.resolve(sent)
    if (!flight.isWaiting) return
    flight.isWaiting = false
    onMined()
  }

  return {
    follow,
    waiting,
    wake(intentId) {
      const flight = flights.get(intentId)
      if (flight) look(flight)
    },
    async run(signal) {
      let adoptAt = 0
      while (!signal.aborted) {
        try {
          if (performance.now() >= adoptAt) {
            for (const intentId of await openIntents(sql, chain.chainId)) void follow(intentId)
            adoptAt = performance.now() + ADOPT_EVERY_MS
          }
          for (const flight of flights.values()) look(flight)
        } catch (err) {
          log.warn({ err }, 'settlements under way are read later')
        }
        await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => {})
      }
    },
  }
}

const isOnItsWay = ({ isWaiting, isSent }: Flight) => isWaiting && isSent
/** Logs do not tell what each purchase of a batch used: what is beyond the usual is of those that failed, who used something in any case. */
function burnedEach(gasUsed: bigint, endings: Ending[]): bigint {
  const failed = BigInt(endings.filter(({ state }) => state === 'failed').length)
  if (failed === 0n) return 0n
  const burned = (gasUsed - USUAL * (BigInt(endings.length) - failed)) / failed
  return burned > LEAST_BURNED ? burned : LEAST_BURNED
}

const isSame = (before: Ending[], after: Ending[]) =>
  before.every(({ state }, at) => state === after[at]?.state)
