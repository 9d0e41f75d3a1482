import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const BUILD = fileURLToPath(new URL('build.ts', import.meta.url))

/** Compiles the contracts, in a process of its own. Returns what is wrong when what is committed is not what the sources give. */
export function checkBuild(): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(process.execPath, [BUILD, '--check'], (error, stdout, stderr) =>
      resolve(error ? lastLine(stdout + stderr) : undefined),
    )
  })
}

const lastLine = (text: string) => text.trim().split('\n').at(-1) ?? ''
