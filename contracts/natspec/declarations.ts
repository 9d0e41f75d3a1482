// Everything in the Solidity sources that a caller can see, with its NatSpec, from the compiler's syntax tree.
import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export type Sources = Record<string, string>

export interface Declaration {
  file: string
  contract: string
  kind: 'constructor' | 'contract' | 'enum' | 'error' | 'event' | 'function' | 'struct' | 'variable'
  name: string
  /** Names and types of the parameters or of a struct's fields, in order. */
  parameters: { name: string; type: string }[]
  /** Names of the return values, in order; empty where one has none. */
  returns: string[]
  docs: NatSpec
}

export interface NatSpec {
  notice: string
  dev: string
  params: Record<string, string>
  returns: string[]
  /** The contract whose text is taken over. */
  inheritdoc: string
}

const ROOT = dirname(import.meta.dirname)

export function readSources(): Sources {
  const files = globSync('src/**/*.sol', { cwd: ROOT }).sort()
  return Object.fromEntries(files.map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]))
}

/** All contracts with their errors, events, structs, enums, constructors, and what is public or external; of libraries also what is internal. */
export function declarations(sources: Sources): Declaration[] {
  const trees = parse(sources)
  return Object.entries(sources).flatMap(([file, source]) =>
    (trees[file]?.ast.nodes ?? [])
      .filter(({ nodeType }) => nodeType === 'ContractDefinition')
      .flatMap((contract) => [
        declaration({ file, source, contract }, contract),
        ...(contract.nodes ?? [])
          .filter((node) => isVisible(node, contract))
          .map((node) => declaration({ file, source, contract }, node)),
      ]),
  )
}

interface Node {
  nodeType: string
  name: string
  /** Offset, length and number of the source. */
  src: string
  nodes?: Node[]
  documentation?: { text: string }
  visibility?: string
  kind?: string
  contractKind?: string
  members?: Node[]
  parameters?: { parameters: Node[] }
  returnParameters?: { parameters: Node[] }
  typeName?: Node
  /** Of a type that a contract declares. */
  pathNode?: { name: string }
}

/** Parses in a process of its own: the compiler takes 200 MB and adds listeners to its process. */
function parse(sources: Sources): Record<string, { ast: Node }> {
  const input = {
    language: 'Solidity',
    sources: Object.fromEntries(Object.entries(sources).map(([file, content]) => [file, { content }])),
    settings: { stopAfter: 'parsing', outputSelection: { '*': { '': ['ast'] } } },
  }
  const output = execFileSync(process.execPath, [join(import.meta.dirname, 'parse.ts')], {
    input: JSON.stringify(input),
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  })
  const { errors = [], sources: trees } = JSON.parse(output)
  const failed = errors.find(({ severity }: { severity: string }) => severity === 'error')
  if (failed) throw new Error(failed.formattedMessage)
  return trees
}

const KINDS: Record<string, Declaration['kind']> = {
  ContractDefinition: 'contract',
  EnumDefinition: 'enum',
  ErrorDefinition: 'error',
  EventDefinition: 'event',
  FunctionDefinition: 'function',
  StructDefinition: 'struct',
  VariableDeclaration: 'variable',
}

function isVisible(node: Node, contract: Node): boolean {
  if (!(node.nodeType in KINDS)) return false
  if (node.nodeType === 'VariableDeclaration') return node.visibility === 'public'
  if (node.nodeType !== 'FunctionDefinition') return true
  // The parser gives a constructor no visibility that counts.
  if (node.kind === 'constructor') return true
  return (
    node.visibility !== 'private' && (contract.contractKind === 'library' || node.visibility !== 'internal')
  )
}

interface Place {
  file: string
  source: string
  contract: Node
}

function declaration({ file, source, contract }: Place, node: Node): Declaration {
  const parameters = node.members ?? node.parameters?.parameters ?? []
  const isConstructor = node.kind === 'constructor'
  return {
    file,
    contract: contract.name,
    kind: isConstructor ? 'constructor' : (KINDS[node.nodeType] ?? 'contract'),
    name: isConstructor ? 'constructor' : node.name,
    parameters: node.nodeType === 'EnumDefinition' ? [] : parameters.map(named),
    returns: (node.returnParameters?.parameters ?? []).map(({ name }) => name),
    docs: natspec(node.documentation?.text ?? commentBefore(node, source)),
  }
}

/** The parser leaves out the comments of variables. Offsets count bytes. */
function commentBefore({ src }: Node, source: string): string {
  const before = Buffer.from(source).subarray(0, Number.parseInt(src, 10)).toString()
  const above = before.split('\n').slice(0, -1)
  const first = above.findLastIndex((line) => !line.trim().startsWith('///')) + 1
  return above.slice(first).join('\n').replaceAll('///', '')
}

function named({ name, typeName }: Node) {
  return { name, type: typeName?.name ?? typeName?.pathNode?.name ?? '' }
}

function natspec(text: string): NatSpec {
  const docs: NatSpec = { notice: '', dev: '', params: {}, returns: [], inheritdoc: '' }
  const plain = text
    .split('\n')
    .map((line) => line.trim())
    .join(' ')
  for (const tag of plain.split(/(?:^| )(?=@[a-z])/)) {
    const [, name = 'notice', value = ''] = /^(?:@(\S+) ?)?(.*)$/.exec(tag.trim()) ?? []
    if (name === 'param') {
      const [, parameter = '', about = ''] = /^(\S+) ?(.*)$/.exec(value) ?? []
      docs.params[parameter] = about
    } else if (name === 'return') docs.returns.push(value)
    else if (name === 'notice' || name === 'dev' || name === 'inheritdoc') docs[name] ||= value
  }
  return docs
}
