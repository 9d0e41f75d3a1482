import { setTimeout as sleep } from 'node:timers/promises'
import type { Context } from '../../../kit/context.ts'
import { backoffMs } from '../../../machinery/workers/backoff.ts'
import type { Frame, Worker } from '../../../machinery/workers/frame.ts'
import { type Caller, CallFailed } from './api.ts'
import type { Handler } from './handler.ts'

export type Menu = readonly { command: string; description: string }[]

/** What both ways of receiving need. */
export interface Receiving {
  context: Context
  call: Caller
  menu: Menu
  handler: Handler
}

const BACKOFF = { firstMs: 500, maxMs: 30_000 }

/** Waits after a failure as long as Telegram asks for, else longer from one failure to the next. Ends early when the signal fires. */
export async function pauseAfter(error: unknown, failures: number, signal: AbortSignal): Promise<void> {
  const asked = error instanceof CallFailed ? error.retryAfterMs : undefined
  await pause(asked ?? backoffMs(failures, BACKOFF, Math.random), signal)
}

export const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal }).catch(() => {})

/** Repeats a call until it succeeds. Rejects when the signal fires. */
export async function untilDone(
  work: () => Promise<unknown>,
  signal: AbortSignal,
  frame: Frame,
): Promise<void> {
  for (let failures = 1; ; failures += 1) {
    signal.throwIfAborted()
    try {
      await work()
      return frame.working()
    } catch (error) {
      if (!signal.aborted) frame.failing(error)
      await pauseAfter(error, failures, signal)
    }
  }
}

/** A worker that is told to stop ends without an error. */
export const workerOf = (run: Worker['run']): Worker => ({
  name: 'telegram',
  run: (signal, frame) =>
    run(signal, frame).catch((error: unknown) => {
      if (!signal.aborted) throw error
    }),
})

/** Sets the menu of commands in private chats. The bot works without one. */
export async function showMenu({ context, call, menu }: Receiving, signal: AbortSignal): Promise<void> {
  const scope = { type: 'all_private_chats' } as const
  await call((api, aborted) => api.setMyCommands(menu, { scope }, aborted), { signal }).catch(
    (err: unknown) => context.log.warn({ err }, 'the menu of the bot was not set'),
  )
}
