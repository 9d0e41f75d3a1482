// The files of work that goes on after a crash: one JSON file each.
import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { z } from 'zod'
import { Refused } from '../refused.ts'
import { readText, sync, writeSafely } from '../safe-files.ts'

/** Undefined when there is no such file. */
export async function readRecord<T>(path: string, schema: z.ZodType<T>): Promise<T | undefined> {
  const text = await readText(path)
  if (text === undefined) return undefined
  try {
    return schema.parse(JSON.parse(text))
  } catch {
    throw new Refused(`the record ${path} is damaged: move the file away; nothing was paid`)
  }
}

/** Resolves once the record is synced to disk. */
export async function saveRecord(stateDir: string, path: string, record: unknown): Promise<void> {
  const folder = dirname(path)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  for (const parent of [stateDir, dirname(folder)]) await sync(parent)
  await writeSafely(folder, path, `${JSON.stringify(record, null, 2)}\n`)
}
