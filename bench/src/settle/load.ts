import { Agent, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Hash } from 'viem'
import type { Payment } from './payments.ts'

/**
 * - `closed`: a buyer pays again when the payment before has been answered
 * - `burst`: a buyer sends all payments at once
 */
export type Way = 'closed' | 'burst'
export type Load = {
  way: Way
  /** By buyer. */
  payments: readonly (readonly Payment[])[]
  /** No payment begins later. */
  beginMs: number
  /** Payments that have no answer by then have failed. */
  endMs: number
}
export type Outcome = {
  payment: Payment
  ms: number
  /** What came of it: a transaction, or why there is none. */
  result: { transaction: Hash } | { failure: string }
}
/** `seconds` are from the first request to the last answer. */
export type Shot = { outcomes: Outcome[]; seconds: number }

export async function fire(url: string, { way, payments, beginMs, endMs }: Load): Promise<Shot> {
  const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })
  const end = new AbortController()
  const timer = setTimeout(() => end.abort(), endMs)
  const outcomes: Outcome[] = []
  const start = performance.now()

  async function pay(payment: Payment): Promise<void> {
    const sentAt = performance.now()
    const result = await settle(url, payment, agent, end.signal)
    outcomes.push({ payment, ms: performance.now() - sentAt, result })
  }

  async function payAll(own: readonly Payment[]): Promise<void> {
    if (way === 'burst') {
      await Promise.all(own.map(pay))
      return
    }
    for (const payment of own) {
      if (performance.now() - start >= beginMs) return
      await pay(payment)
    }
  }

  await Promise.all(payments.map(payAll))
  const seconds = (performance.now() - start) / 1_000
  clearTimeout(timer)
  agent.destroy()
  return { outcomes, seconds }
}

async function settle(
  url: string,
  { body }: Payment,
  agent: Agent,
  signal: AbortSignal,
): Promise<Outcome['result']> {
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const headers = { 'content-type': 'application/json', 'content-length': body.length }
      request(`${url}/settle`, { method: 'POST', headers, agent, signal }, resolve)
        .on('error', reject)
        .end(body)
    })
    const answer = await text(response)
    if (response.statusCode !== 200) return { failure: `HTTP ${response.statusCode}: ${answer}` }
    const { success, transaction, errorReason, errorMessage } = JSON.parse(answer)
    return success ? { transaction } : { failure: `${errorReason}: ${errorMessage}` }
  } catch (error) {
    if (signal.aborted) return { failure: 'no answer in time' }
    return { failure: error instanceof Error ? error.message : String(error) }
  }
}
