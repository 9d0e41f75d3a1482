// Runs commands and draws what a terminal shows, as an SVG with text that can be selected:
//   node scripts/terminal-picture.ts <file.svg> <folder> <file with one command a line>
// A line `shown => run` shows the first and runs the second; a line that begins with & runs beside those that follow.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { stripVTControlCharacters } from 'node:util'

const COLUMNS = 108
const CHAR_WIDTH = 8.4
const LINE_HEIGHT = 19
const MARGIN = 20
const BAR = 28

export interface Line {
  text: string
  kind: 'command' | 'output'
}

/** Long lines are cut: a picture is read, not copied. */
const cut = (text: string) => (text.length > COLUMNS ? `${text.slice(0, COLUMNS - 1)}…` : text)

const escaped = (text: string) =>
  text.replace(/[&<>]/g, (char) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[char] ?? char)

/** Its colours are its own, so it reads the same on a light page and on a dark one. */
export function draw(lines: Line[]): string {
  const width = Math.ceil(COLUMNS * CHAR_WIDTH + 2 * MARGIN)
  const height = BAR + lines.length * LINE_HEIGHT + MARGIN
  const rows = lines.map(({ text, kind }, at) => {
    const y = BAR + (at + 1) * LINE_HEIGHT
    const mark = /^[+✓]/.test(text) ? 'new' : /^=/.test(text) ? 'old' : ''
    const className = kind === 'command' ? 'command' : mark
    return `<text x="${MARGIN}" y="${y}"${className && ` class="${className}"`}>${escaped(cut(text))}</text>`
  })
  const dots = ['#ff5f57', '#febc2e', '#28c840'].map(
    (color, at) => `<circle cx="${MARGIN + at * 18}" cy="16" r="5.5" fill="${color}"/>`,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" xml:space="preserve">
<title>${escaped(lines.find(({ kind }) => kind === 'command')?.text ?? 'a terminal')}</title>
<style>
text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; fill: #d0d7de; white-space: pre }
.command { fill: #ffffff; font-weight: 700 }
.new { fill: #7ee787 }
.old { fill: #8b949e }
</style>
<rect width="${width}" height="${height}" rx="8" fill="#161b22" stroke="#30363d"/>
${dots.join('\n')}
${rows.join('\n')}
</svg>
`
}

async function run(command: string, cwd: string): Promise<string[]> {
  const child = spawn('sh', ['-c', `${command} 2>&1`], { cwd, stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${command} ended with ${code}: ${text}`)
  return stripVTControlCharacters(text).trimEnd().split('\n')
}

/** Until it says something. */
async function runBeside(command: string, cwd: string): Promise<{ child: ChildProcess; lines: string[] }> {
  const child = spawn('sh', ['-c', `exec ${command} 2>&1`], { cwd, stdio: ['ignore', 'pipe', 'inherit'] })
  const [chunk] = await once(child.stdout, 'data')
  await sleep(200)
  return { child, lines: stripVTControlCharacters(String(chunk)).trimEnd().split('\n') }
}

async function main([picture, folder, list]: string[]): Promise<void> {
  if (!picture || !folder || !list)
    throw new Error('say: terminal-picture.ts <file.svg> <folder> <file with commands>')
  const lines: Line[] = []
  const beside: ChildProcess[] = []
  let cwd = folder
  try {
    for (const entry of readFileSync(list, 'utf8').split('\n').filter(Boolean)) {
      const isBeside = entry.startsWith('&')
      const [shown = '', command = shown] = entry.replace(/^&/, '').split(' => ')
      lines.push({ text: `$ ${shown}${isBeside ? ' &' : ''}`, kind: 'command' })
      const [, into] = /^cd (\S+)$/.exec(command) ?? []
      if (into) cwd = `${cwd}/${into}`
      else if (isBeside) {
        const started = await runBeside(command, cwd)
        beside.push(started.child)
        lines.push(...started.lines.map((text) => ({ text, kind: 'output' as const })))
      } else lines.push(...(await run(command, cwd)).map((text) => ({ text, kind: 'output' as const })))
    }
  } finally {
    for (const child of beside) child.kill()
  }
  writeFileSync(picture, draw(lines))
}

if (import.meta.main) await main(process.argv.slice(2))
