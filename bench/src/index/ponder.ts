import { execFile } from 'node:child_process'
import { statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Command } from '../processes.ts'

export const PONDER_SCHEMA = 'market'
/** Ponder begins with 20 requests a second for each endpoint: with this many URLs of the one node its processor is the limit. */
const ENDPOINTS = 64

const project = new URL('../../ponder/', import.meta.url)

/**
 * Ponder is no dependency of the market: it is fetched when it is to be measured. Its package.json overrides two packages below Ponder
 * whose newest versions cannot be had everywhere; Ponder takes three functions from @ponder/utils, and the older one has them.
 */
export async function installPonder(progress: (line: string) => void): Promise<void> {
  if (changedAt('node_modules/.package-lock.json') >= changedAt('package-lock.json')) return
  progress('installing Ponder into bench/ponder/node_modules (npm ci, once, about a minute)')
  try {
    await promisify(execFile)('npm', ['ci', '--no-audit', '--no-fund'], { cwd: fileURLToPath(project) })
  } catch (error) {
    const reason = (error as Error).message.split('\n').slice(0, 12).join('\n')
    throw new Error(`Ponder could not be installed; --only ours goes without it.\n${reason}`)
  }
}

export function ponderCommand(options: {
  rpcUrl: string
  databaseUrl: string
  pollIntervalMs: number
}): Command {
  const { rpcUrl, databaseUrl, pollIntervalMs } = options
  return {
    cwd: fileURLToPath(project),
    args: ['node_modules/ponder/dist/esm/bin/ponder.js', 'start', '--schema', PONDER_SCHEMA, '--port', '0'],
    env: {
      DATABASE_URL: databaseUrl,
      RPC_URLS: Array.from({ length: ENDPOINTS }, (_, index) => `${rpcUrl}/${index}`).join(','),
      POLL_INTERVAL_MS: `${pollIntervalMs}`,
      PONDER_TELEMETRY_DISABLED: '1',
      NODE_ENV: 'production',
    },
  }
}

function changedAt(file: string): number {
  return statSync(new URL(file, project), { throwIfNoEntry: false })?.mtimeMs ?? -1
}
