// Questions to a person at a terminal.
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'

const INTERRUPTED = 130

/** Whether a person can be asked. */
export const isInteractive = (): boolean => process.stdin.isTTY === true

/** Nothing of the answer is shown. The question goes to stderr, so that stdout can be read by a program. */
export function askHidden(question: string): Promise<string> {
  const output = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: process.stdin, output, terminal: true })
  process.stderr.write(question)
  return new Promise((resolve) => {
    lines.once('SIGINT', () => {
      lines.close()
      process.stderr.write('\n')
      process.exit(INTERRUPTED)
    })
    lines.question('', (answer) => {
      lines.close()
      process.stderr.write('\n')
      resolve(answer)
    })
  })
}
