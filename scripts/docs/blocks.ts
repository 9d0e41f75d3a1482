// The command blocks of a document, as somebody who follows it would type them.

/** Text is compared with what the last command printed, unless `not run` stands above it. */
export type Block = { line: number } & (
  | { kind: 'commands'; commands: Command[] }
  | { kind: 'output'; lines: string[] }
  | { kind: 'file'; name: string; text: string }
)

export interface Command {
  text: string
  /** Undefined where the document does not say what is printed. */
  prints: string[] | undefined
  /** Goes on running; the next command comes when it has printed this. */
  until: string | undefined
}

/** A block that nobody runs, and the reason that the document gives. */
export interface Skipped {
  line: number
  reason: string
}

const FENCE = /^(?<indent> *)(?<ticks>`{3,})(?<language>[\w-]*).*$/
const DIRECTIVE = /^<!-- (?<name>not run|in the background until): (?<value>.+?) -->$/
const SHELLS = new Set(['sh', 'bash', 'console'])
const PROMPT = /^\$ /

export interface Document {
  blocks: Block[]
  skipped: Skipped[]
}

export function readDocument(markdown: string): Document {
  const lines = markdown.split('\n')
  const found: Document = { blocks: [], skipped: [] }
  let directive: { name: string; value: string } | undefined
  for (let at = 0; at < lines.length; at += 1) {
    const text = lines[at] ?? ''
    const said = DIRECTIVE.exec(text)?.groups
    if (said) directive = { name: said.name as string, value: said.value as string }
    const { ticks, indent = '', language = '' } = FENCE.exec(text)?.groups ?? {}
    if (!ticks) {
      if (text.trim() && !said) directive = undefined
      continue
    }
    const line = at + 1
    const inside: string[] = []
    for (at += 1; at < lines.length && lines[at]?.trim() !== ticks; at += 1) {
      inside.push((lines[at] as string).slice(indent.length))
    }
    if (directive?.name === 'not run') found.skipped.push({ line, reason: directive.value })
    else {
      const block = blockOf(language, inside, directive?.value)
      if (block) found.blocks.push({ line, ...block } as Block)
    }
    directive = undefined
  }
  return found
}

function blockOf(language: string, lines: string[], until: string | undefined) {
  const hasPrompts = lines.some((line) => PROMPT.test(line))
  if (language === '' || language === 'text' || SHELLS.has(language)) {
    if (hasPrompts) return { kind: 'commands', commands: prompted(lines, until) }
    if (!SHELLS.has(language)) return { kind: 'output', lines }
    return { kind: 'commands', commands: plain(lines, until) }
  }
  const name = /^(?:\/\/|#) (\S+\.\w+)$/.exec(lines[0] ?? '')?.[1]
  return name ? { kind: 'file', name, text: `${lines.join('\n')}\n` } : undefined
}

/** `$ command`, then what it prints. */
function prompted(lines: string[], until: string | undefined): Command[] {
  const commands: (Command & { prints: string[] })[] = []
  for (const line of lines) {
    if (PROMPT.test(line)) commands.push({ text: line.slice(2), prints: [], until })
    else if (commands.at(-1)?.text.endsWith('\\') && commands.at(-1)?.prints.length === 0) {
      ;(commands.at(-1) as Command).text += `\n${line}`
    } else commands.at(-1)?.prints.push(line)
  }
  return commands
}

/** A command a line; comments are for the reader. */
function plain(lines: string[], until: string | undefined): Command[] {
  const whole = lines.join('\n').replaceAll('\\\n', '\\\u0000').split('\n')
  return whole
    .map((line) => line.replaceAll('\u0000', '\n').trim())
    .filter((line) => line && !line.startsWith('#'))
    .map((text) => ({ text, prints: undefined, until }))
}
