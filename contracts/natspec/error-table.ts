// The table of custom errors in docs/contracts.md. `npm run errors -w contracts` writes it; a test compares it.
import { readFileSync, writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { toFunctionSelector } from 'viem'
import { type Declaration, declarations, readSources } from './declarations.ts'

const DOCUMENT = new URL('../../docs/contracts.md', import.meta.url)
const BEGIN = '<!-- errors: written by `npm run errors -w contracts` -->\n'
const END = '<!-- end of errors -->'

export function renderErrorTable(all: Declaration[]): string {
  const rows = all
    .filter(({ kind }) => kind === 'error')
    .map(({ contract, name, parameters, docs }) => {
      const signature = `${name}(${parameters.map(({ type }) => type).join(',')})`
      const fields = parameters.map((parameter) => parameter.name).join(', ')
      return [
        // An interface carries the errors of the contract that it is named after.
        contract.replace(/^I(\w+)Errors$/, '$1'),
        `\`${name}(${fields})\``,
        `\`${toFunctionSelector(signature)}\``,
        docs.notice,
        docs.dev,
      ]
    })
  const lines = [['contract', 'error', 'selector', 'when', 'what to do'], Array(5).fill('---'), ...rows]
  return lines.map((cells) => `| ${cells.join(' | ')} |\n`).join('')
}

/** Without the padding that the formatter adds to cells. */
export function readErrorTable(): string {
  const [, table] = sections()
  return `${table.trim().replace(/ {2,}/g, ' ').replace(/-{3,}/g, '---')}\n`
}

function sections(): [before: string, table: string, after: string] {
  const text = readFileSync(DOCUMENT, 'utf8')
  const [begin, end] = [text.indexOf(BEGIN), text.indexOf(END)]
  if (begin < 0 || end < begin) throw new Error('docs/contracts.md has no place for the table of errors')
  return [text.slice(0, begin), text.slice(begin + BEGIN.length, end), text.slice(end)]
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [before, , after] = sections()
  writeFileSync(DOCUMENT, `${before}${BEGIN}${renderErrorTable(declarations(readSources()))}${after}`)
}
