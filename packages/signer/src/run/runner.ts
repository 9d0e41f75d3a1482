import type { Context } from '../context.ts'
import type { Output } from './output.ts'
import type { Queue } from './queue.ts'
import type { Records } from './records.ts'
import type { Writer } from './writer.ts'

/** What the steps of the runner share. */
export interface Runner {
  context: Context
  chainId: number
  agentId: string
  queue: Queue
  records: Records
  output: Output
  /** Who writes reviews; undefined when nobody does. */
  writer: Writer | undefined
  isDryRun: boolean
}
