// One shell for a document: what a command changes, the folder and the environment, is there for the next one.
import { type ChildProcess, spawn } from 'node:child_process'

export interface Printed {
  code: number
  lines: string[]
}

export interface Shell {
  /** Runs a command to its end. */
  run(command: string): Promise<Printed>
  /** Starts a command that goes on running; returns what it printed up to the line with this text. */
  start(command: string, until: string): Promise<Printed>
  /** Ends what was started, and the shell. */
  close(): Promise<void>
}

const END = '--end-of-command--'
/** An install beside other tests on a slow machine takes minutes; what hangs is ended, too. */
export const PATIENCE_MS = 600_000

export function openShell(cwd: string, env: NodeJS.ProcessEnv): Shell {
  const shell = spawn('bash', ['--noprofile', '--norc'], {
    cwd,
    env,
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const started: ChildProcess[] = []
  const output = listen(shell)

  return {
    async run(command) {
      output.text = ''
      shell.stdin?.write(`{ ${command}\n} </dev/null 2>&1; printf '\\n${END} %s %s\\n' "$?" "$PWD"\n`)
      const end = new RegExp(`\\n${END} (\\d+) (.*)\\n`)
      await output.until((text) => end.test(text), command)
      const [whole = '', code = ''] = end.exec(output.text) ?? []
      return { code: Number(code), lines: output.text.slice(0, output.text.indexOf(whole)).split('\n') }
    },
    async start(command, until) {
      const { lines } = await this.run('printf "%s\\n" "$PWD"')
      const child = spawn('bash', ['-c', command], {
        cwd: lines[0],
        env,
        detached: true,
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      started.push(child)
      const its = listen(child)
      await its.until((text) => text.includes(until), command)
      return { code: 0, lines: its.text.split('\n') }
    },
    async close() {
      await Promise.all([...started.reverse(), shell].map(end))
    },
  }
}

function listen(child: ChildProcess) {
  const heard = {
    text: '',
    async until(isThere: (text: string) => boolean, command: string) {
      const deadline = AbortSignal.timeout(PATIENCE_MS)
      await new Promise<void>((resolve, reject) => {
        const look = () => {
          if (isThere(heard.text)) resolve()
          else if (deadline.aborted)
            reject(new Error(`"${command}" did not end in time; it printed\n${heard.text}`))
          else if (child.exitCode !== null)
            reject(new Error(`"${command}" ended early; it printed\n${heard.text}`))
        }
        child.stdout?.on('data', look)
        child.stderr?.on('data', look)
        child.on('exit', look)
        deadline.addEventListener('abort', look)
        look()
      })
    },
  }
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').prependListener('data', (chunk: string) => {
      heard.text += chunk
    })
  }
  return heard
}

/** With everything that it started: the group has its number. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.pid === undefined) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  process.kill(-child.pid, 'SIGINT')
  const patience = setTimeout(() => process.kill(-(child.pid as number), 'SIGKILL'), 15_000)
  // A shell that waits for input does not end by SIGINT.
  child.stdin?.end()
  await ended
  clearTimeout(patience)
}
