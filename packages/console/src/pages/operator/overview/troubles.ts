import type { AnswerOf } from '@referrer/client'

const BEHIND_SECONDS = 120
const WAITING_SECONDS = 600

export interface Trouble {
  what: string
  next: string
}

/** What is wrong, and what an operator does about it. */
export function troublesOf(health: AnswerOf<'/admin/health', 'get'>): Trouble[] {
  const { workers, chains, keys, outbox } = health
  return [
    ...workers
      .filter(({ state }) => state !== 'running')
      .map(({ name, state }) => ({
        what: `The worker ${name} is ${state}`,
        next: 'Look for its name in the log; it starts again by itself when the cause is gone.',
      })),
    ...chains.flatMap(({ chain_id, head, lag_seconds }) => {
      if (head === null) {
        return [
          { what: `Chain ${chain_id} does not answer`, next: 'Check its RPC endpoints, or add another one.' },
        ]
      }
      if (lag_seconds === null || lag_seconds <= BEHIND_SECONDS) return []
      const what = `Chain ${chain_id} is read ${Math.round(lag_seconds)} s late`
      return [{ what, next: 'Check whether its node keeps up, and the load of the database.' }]
    }),
    ...keys
      .filter(({ is_low }) => is_low)
      .map(({ role, chain_id, address }) => ({
        what: `The ${role}’s account has little ETH on chain ${chain_id}`,
        next: `Send some to ${address} before its transactions stop.`,
      })),
    ...(outbox.oldest_seconds !== null && outbox.oldest_seconds > WAITING_SECONDS
      ? [
          {
            what: `A transaction of ours waits for ${Math.round(outbox.oldest_seconds / 60)} minutes`,
            next: 'Look for its reason in the log of the sender; fees may have risen above our limit.',
          },
        ]
      : []),
  ]
}
