import { bringUp } from './bring-up.ts'
import { startDatabases } from './databases.ts'
import { DAYS, makePlan } from './demo/plan.ts'
import { play } from './demo/play.ts'
import { record } from './demo/record.ts'
import type { Snapshot } from './demo/snapshot.ts'
import { createEnds } from './ends.ts'
import { readPorts, requireFree } from './ports.ts'
import { databaseDirectory } from './state.ts'

/** Plays the plan, or its first days, in a bare market of its own, and records what came of it. */
export async function makeDemo({
  env,
  say,
  days = DAYS,
}: {
  env: NodeJS.ProcessEnv
  say: (text: string) => void
  days?: number
}): Promise<Snapshot> {
  const ports = readPorts(env)
  await requireFree(ports)
  const ends = createEnds()
  try {
    const databases = await ends.add(
      () => startDatabases(databaseDirectory('demo', ports.service)),
      (server) => server.stop(),
    )
    const parts = { ports, databases, logLevel: 'warn', ends, say }
    const sandbox = await bringUp({ ...parts, contents: 'empty', isEmbedding: false })
    const played = await play(sandbox, { ...makePlan(), days }, { shopPort: ports.shop, ends, say })
    return await record(sandbox, played)
  } finally {
    for (const problem of await ends.all()) say(String(problem))
  }
}
