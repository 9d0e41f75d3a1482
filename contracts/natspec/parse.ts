// Reads the compiler's input from stdin and writes its output to stdout. The compiler's own command ends before a pipe has taken all of it.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import solc from 'solc'

const { resolve } = createRequire(import.meta.url)
const output: string = solc.compile(readFileSync(0, 'utf8'), {
  import: (path: string) => ({ contents: readFileSync(resolve(path), 'utf8') }),
})
process.stdout.write(output)
