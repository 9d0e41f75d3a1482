// Continuous load on a service, and its answers.
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../../src/machinery/workers/testing.ts'
import type { Answer } from '../http/caller.ts'

const PAUSE_MS = 5

export interface LoadedAnswer {
  kind: string
  status: number
  text: string
  /** The phase in which the request was sent. */
  phase: number
}

export interface Load {
  /** Starts a new phase for the following requests. */
  nextPhase(): void
  /** Waits until every kind of request has got this status in this phase. */
  everyAnswer(status: number): Promise<void>
  /** Waits for a few more answers of every kind, and returns all of the phase. */
  someMore(): Promise<LoadedAnswer[]>
  answers: LoadedAnswer[]
  stop(): Promise<void>
}

/** Sends each kind of request repeatedly, one after the other. */
export function startLoad(requests: Record<string, () => Promise<Answer>>): Load {
  const answers: LoadedAnswer[] = []
  let phase = 0
  let isStopped = false
  const kinds = Object.keys(requests)
  const callers = Object.entries(requests).map(async ([kind, ask]) => {
    while (!isStopped) {
      const asked = phase
      // A request without any answer is recorded as status 0; that must not happen.
      const { status, text } = await ask().catch((error) => ({
        status: 0,
        text: String(error.cause ?? error),
      }))
      answers.push({ kind, status, text, phase: asked })
      await sleep(PAUSE_MS)
    }
  })
  const ofPhase = () => answers.filter((answer) => answer.phase === phase)
  return {
    answers,
    nextPhase() {
      phase += 1
    },
    async everyAnswer(status) {
      const isSeen = (kind: string) =>
        ofPhase().some((answer) => answer.kind === kind && answer.status === status)
      await until(() => kinds.every(isSeen), `a ${status} of every kind`)
    },
    async someMore() {
      const count = (kind: string) => ofPhase().filter((answer) => answer.kind === kind).length
      await until(() => kinds.every((kind) => count(kind) >= 3), 'some answers of every kind')
      return ofPhase()
    },
    async stop() {
      isStopped = true
      await Promise.all(callers)
    },
  }
}
