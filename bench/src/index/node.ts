import { fileURLToPath } from 'node:url'
import { listening, type Process } from '../processes.ts'

export type Counts = Record<string, number>
export type RecordedNode = {
  url: string
  state(): Promise<{ firstRequestAt: number | null; asked: Counts; head: number; counts: Counts }>
  /** Mines a block of so many events; `at` is when it became the head, in milliseconds since the epoch. */
  append(events: number): Promise<{ number: number; at: number; counts: Counts }>
  process: Process
}

/** Starts rpc.ts and waits until it has recorded its chain. */
export async function startNode(options: {
  seed: number
  events: number
  logFile: string
}): Promise<RecordedNode> {
  const { seed, events, logFile } = options
  const program = fileURLToPath(new URL('./rpc.ts', import.meta.url))
  const { url, process } = await listening(
    'the recorded chain',
    { args: [program, '--seed', `${seed}`, '--events', `${events}`] },
    logFile,
  )
  async function control<T>(body?: unknown): Promise<T> {
    const answer = await fetch(`${url}/control`, body ? { method: 'POST', body: JSON.stringify(body) } : {})
    return (await answer.json()) as T
  }
  return { url, state: () => control(), append: (append) => control({ append }), process }
}
