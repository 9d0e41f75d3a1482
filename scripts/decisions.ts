// Rules that we decided otherwise than the interface says: conformance/decisions.tsv, one a line.
import { idOf, isOtherwise, ruleNamesIn } from './rule-ids.ts'
import type { Source } from './rule-tests.ts'

export interface Decision {
  id: string
  /** What is so instead, in a sentence. */
  decision: string
  /** Where users read of it: a document, with the anchor of a heading if it has one. */
  documented: string
}

const HEADER = 'id\tdecision\tdocumented'

export function readDecisions(tsv: string): Decision[] {
  const [header, ...rows] = tsv.trimEnd().split('\n')
  if (header !== HEADER) throw new Error(`decisions.tsv must begin with the line ${JSON.stringify(HEADER)}`)
  return rows.map((row) => {
    const [id = '', decision = '', documented = ''] = row.split('\t')
    return { id, decision, documented }
  })
}

/** What is wrong with the list itself. `readDocument` gives a document's text, or undefined where there is none. */
export function wrongDecisions(
  rules: readonly string[],
  decisions: readonly Decision[],
  readDocument: (path: string) => string | undefined,
): string[] {
  return decisions.flatMap(({ id, decision, documented }, at) => {
    const [path = '', anchor] = documented.split('#')
    const text = readDocument(path)
    return [
      ...(rules.includes(id) ? [] : [`${id} is not in rules.tsv`]),
      ...(decisions.findIndex((one) => one.id === id) < at ? [`${id} is decided twice`] : []),
      ...(/^[^|]{20,}\.$/.test(decision) ? [] : [`${id} needs a sentence that says what is so instead`]),
      ...(text !== undefined && (anchor === undefined || anchorsOf(text).includes(anchor))
        ? []
        : [`${id} is documented at "${documented}", which there is not`]),
    ]
  })
}

/** The tests that hold a rule to the letter although it is decided otherwise, and those of a decision that is not in the list. */
export function contradictions(
  decisions: readonly Decision[],
  named: readonly { where: string; names: readonly string[] }[],
): string[] {
  const decided = new Set(decisions.map(({ id }) => id))
  return named.flatMap(({ where, names }) =>
    names.flatMap((name) => {
      if (decided.has(idOf(name)) === isOtherwise(name)) return []
      return isOtherwise(name)
        ? [`${idOf(name)} has no line in conformance/decisions.tsv, but ${where} names it otherwise`]
        : [`${name} is decided otherwise (conformance/decisions.tsv): write [${name} otherwise] in ${where}`]
    }),
  )
}

export const namesInSources = (sources: readonly Source[]) =>
  sources.map(({ file, text }) => ({ where: file, names: ruleNamesIn(text) }))

/** As GitHub makes them of headings. */
const anchorsOf = (markdown: string): string[] =>
  [...markdown.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replace(/\s/g, '-'),
  )
