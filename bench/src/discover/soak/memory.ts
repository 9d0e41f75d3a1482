import { setTimeout as sleep } from 'node:timers/promises'
import type { Server } from '../../http/servers.ts'
import { memoryOf } from '../service.ts'

/** In bytes. */
export type Memory = { resident: number; heap: number }

const COLLECTED_WITHIN_MS = 1_000

/** Memory after garbage collection, which may otherwise come minutes later. */
export async function settledMemory(server: Server): Promise<Memory> {
  server.process.collect()
  await sleep(COLLECTED_WITHIN_MS)
  return memoryOf(server)
}
