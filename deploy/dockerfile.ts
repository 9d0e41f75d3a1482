// Reads Dockerfiles and their ignore files as far as ours go.
export interface Instruction {
  line: number
  name: string
  /** `--from=build` as `from`. */
  flags: Readonly<Record<string, string>>
  /** What follows the flags. */
  text: string
}

export interface Stage {
  name: string | undefined
  image: string
  instructions: Instruction[]
}

/** The stages of a Dockerfile, each with what follows its FROM. */
export function parseDockerfile(text: string): Stage[] {
  const stages: Stage[] = []
  for (const instruction of instructionsOf(text)) {
    if (instruction.name === 'FROM') {
      const [image = '', , name] = instruction.text.split(/\s+/)
      stages.push({ name, image, instructions: [] })
    } else stages.at(-1)?.instructions.push(instruction)
  }
  return stages
}

function* instructionsOf(text: string): Generator<Instruction> {
  let begun: { line: number; text: string } | undefined
  for (const [at, raw] of text.split('\n').entries()) {
    if (/^\s*(#|$)/.test(raw)) continue
    begun ??= { line: at + 1, text: '' }
    begun.text += raw.replace(/\\$/, '')
    if (raw.endsWith('\\')) continue
    const [, name = '', rest = ''] = /^\s*(\S+)\s*(.*)$/s.exec(begun.text) ?? []
    const flags = /^(--\S+\s+)*/.exec(rest)?.[0] ?? ''
    yield {
      line: begun.line,
      name: name.toUpperCase(),
      flags: Object.fromEntries(
        [...flags.matchAll(/--([\w-]+)=(\S+)/g)].map(([, key, value]) => [key, value]),
      ),
      text: rest.slice(flags.length).trim(),
    }
    begun = undefined
  }
}

/** Whether the builder gets a file, by the rules of .dockerignore: the last pattern that fits it, or a folder above it, decides. */
export function contextFilter(ignoreFile: string): (path: string) => boolean {
  const rules = ignoreFile
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line && !line.startsWith('#'))
    .map((line) => ({ isKept: line.startsWith('!'), pattern: patternOf(line.replace(/^!/, '')) }))
  return (path) => {
    const parts = path.split('/')
    const places = parts.map((_, at) => parts.slice(0, at + 1).join('/'))
    const rule = rules.findLast(({ pattern }) => places.some((place) => pattern.test(place)))
    return rule?.isKept ?? true
  }
}

/** A `*` stays within a name, and means names that begin with a dot, too. */
function patternOf(glob: string): RegExp {
  const source = glob.replace(/\*\*\/|\*|[.+?^${}()|[\]\\]/g, (part) => {
    if (part === '**/') return '(?:.+/)?'
    return part === '*' ? '[^/]*' : `\\${part}`
  })
  return new RegExp(`^${source}$`)
}
