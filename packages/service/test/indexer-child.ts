import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { bundled } from '@referrer/database/testing'
import type { IndexerTask } from './indexer-process.ts'

/** A line printed by the indexer process. */
export interface Said {
  chainId: number
  type: 'active' | 'applied' | 'rolled-back' | 'caught-up' | 'failed'
  from?: number
  to?: number | null
  isFinal?: boolean
  error?: string
}

export interface IndexerChild {
  /** All lines, oldest first. */
  said: Said[]
  /** Kills the process at once, as a crash does. */
  kill(): Promise<void>
}

const PROGRAM = new URL('./indexer-process.ts', import.meta.url)

/** `said`: the lines of an earlier process, to continue them. */
export async function startIndexerChild(task: IndexerTask, said: Said[] = []): Promise<IndexerChild> {
  const child: ChildProcess = spawn(process.execPath, [await bundled(PROGRAM)], {
    env: { ...process.env, INDEX: JSON.stringify(task) },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  await once(child, 'spawn')
  if (!child.stdout) throw new Error('a spawned process has a standard output')
  createInterface({ input: child.stdout }).on('line', (line) => said.push(JSON.parse(line)))
  return {
    said,
    async kill() {
      child.kill('SIGKILL')
      const [code] = await ended
      if (code !== null) throw new Error(`the indexer ended by itself, with code ${code}`)
    },
  }
}
