import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from '@referrer/database'
import { type Server, type ServiceOptions, startServer } from '../http/servers.ts'
import { ask, type Wish } from './ask.ts'
import { MODEL } from './embedder.ts'
import { DIMS } from './vectors.ts'

/** Polling more often would slow down what is waited for. */
const POLL_MS = 200
/** The first load of a million products into Postgres takes the longest. */
const PATIENCE_MS = 3_600_000
const TELL_MS = 1_000

/** The service as it is deployed, behind a proxy that tells who asks. */
export const startService = (
  { settings, ...options }: ServiceOptions,
  embedder: 'auto' | 'off' | { url: string },
): Promise<Server> =>
  startServer({
    ...options,
    settings: {
      TRUSTED_PROXIES: '127.0.0.1',
      ...(typeof embedder === 'string'
        ? { EMBEDDER: embedder }
        : {
            EMBEDDER: 'endpoint',
            EMBEDDINGS_URL: embedder.url,
            EMBEDDINGS_MODEL: MODEL,
            EMBEDDINGS_DIMENSIONS: String(DIMS),
          }),
      ...settings,
    },
  })

/** Waits until questions are answered from the index: before, products are shown by rank alone. */
export async function indexed({ url, process }: Server, wish: Wish): Promise<void> {
  const isAnswered = async () => (await ask(url, wish)).some((found) => found.sub_scores.intent_match > 0)
  await Promise.race([until(isAnswered, 'the index has not been loaded'), process.failed])
}

/** Passes on what the log of the service says of a first load, until the work ends. */
export async function tellingLoad<T>(
  { directory, name }: Pick<ServiceOptions, 'directory' | 'name'>,
  progress: (line: string) => void,
  work: Promise<T>,
): Promise<T> {
  let told = 0
  const tell = () => {
    const log = readFileSync(join(directory, `${name}.log`), 'utf8')
    const lines = [...log.matchAll(/"msg":"search index: ([^"]*)"/g)].map(([, line = '']) => line)
    for (const line of lines.slice(told)) progress(`${name}: ${line}`)
    told = lines.length
  }
  const telling = setInterval(tell, TELL_MS)
  try {
    return await work
  } finally {
    clearInterval(telling)
    tell()
  }
}

/** Processor time of the backends of this database so far; undefined: the server is on another machine. */
export async function databaseCpuSeconds(sql: Sql): Promise<number | undefined> {
  const rows = await sql<{ pid: number }[]>`
    SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`
  try {
    // The same number may be another process here.
    if (!rows.every(({ pid }) => readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith('postgres')))
      return undefined
    const nanoseconds = rows.map(({ pid }) =>
      Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]),
    )
    return nanoseconds.reduce((sum, each) => sum + each, 0) / 1e9
  } catch {
    return undefined
  }
}

export async function until(
  isSo: () => Promise<boolean>,
  otherwise: string,
  pollMs = POLL_MS,
): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`${otherwise} within ${PATIENCE_MS / 1_000} s`)
    await sleep(pollMs)
  }
}

/** Memory in bytes: of the whole process, and what its main thread's objects take. */
export async function memoryOf({ url }: Server): Promise<{ resident: number; heap: number }> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const figure = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
  return {
    resident: figure('process_resident_memory_bytes'),
    heap: figure('nodejs_heap_size_used_bytes'),
  }
}
