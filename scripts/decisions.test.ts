import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readRules } from './conformance.ts'
import { contradictions, type Decision, namesInSources, readDecisions, wrongDecisions } from './decisions.ts'
import { isLong } from './results.ts'
import { nameRule } from './rule-ids.ts'

const root = join(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

describe('conformance/decisions.tsv', () => {
  const decisions = readDecisions(read('conformance/decisions.tsv'))
  const ids = readRules(read('conformance/rules.tsv')).map(({ id }) => id)
  const exclude = (path: string) => /(^|\/)(node_modules|dist)$/.test(path)
  const sources = namesInSources(
    globSync(['{packages,sandbox}/**/*.test.ts', 'contracts/test/**/*.{test.ts,sol}'], { cwd: root, exclude })
      .sort()
      .map((file) => ({ file, text: read(file) })),
  )

  it('names rules that there are, each once, with what is so instead and where that is documented', () => {
    const readDocument = (path: string) =>
      path.endsWith('.md') && existsSync(join(root, path)) ? read(path) : undefined
    expect(wrongDecisions(ids, decisions, readDocument)).toEqual([])
  })

  it('stands in the order of the rules', () => {
    const order = decisions.map(({ id }) => ids.indexOf(id))
    expect(order).toEqual(order.toSorted((a, b) => a - b))
  })

  it('is what tests hold of these rules: none holds one to the letter', () => {
    expect(contradictions(decisions, sources)).toEqual([])
  })

  it('has a test for each decision that runs with every npm test', () => {
    const short = sources.filter(({ where }) => !isLong({ file: where }))
    const untested = decisions.filter(({ id }) => !short.some(({ names }) => nameRule(names, id)))
    expect(untested).toEqual([])
  })
})

describe('the check of decisions', () => {
  const good: Decision = {
    id: 'ONE-01',
    decision: 'It waits until somebody comes.',
    documented: 'docs/a.md#how-it-waits',
  }
  const readDocument = (path: string) => (path === 'docs/a.md' ? '# A\n\n## How it waits\n' : undefined)
  const wrong = (...decisions: Decision[]) => wrongDecisions(['ONE-01'], decisions, readDocument)

  it('finds nothing wrong with a rule, a sentence and the heading of a document', () => {
    expect(wrong(good)).toEqual([])
    expect(readDecisions(`id\tdecision\tdocumented\n${Object.values(good).join('\t')}\n`)).toEqual([good])
  })

  it('finds a rule without a text, one that there is not, one that stands twice, and a document that does not say it', () => {
    expect(wrong({ ...good, decision: '' })).toEqual(['ONE-01 needs a sentence that says what is so instead'])
    expect(wrong({ ...good, id: 'ONE-99' })).toEqual(['ONE-99 is not in rules.tsv'])
    expect(wrong(good, good)).toEqual(['ONE-01 is decided twice'])
    for (const documented of ['docs/b.md', 'docs/a.md#elsewhere', '']) {
      expect(wrong({ ...good, documented })).toEqual([
        `ONE-01 is documented at "${documented}", which there is not`,
      ])
    }
  })

  it('finds a test that holds a decided rule to the letter, and one of a decision that nobody made', () => {
    const named = (...names: string[]) => contradictions([good], [{ where: 'a.test.ts: waits', names }])
    expect(named('ONE-01 otherwise', 'ONE-02')).toEqual([])
    expect(named('ONE-01')).toEqual([
      'ONE-01 is decided otherwise (conformance/decisions.tsv): write [ONE-01 otherwise] in a.test.ts: waits',
    ])
    expect(named('ONE-02 otherwise')).toEqual([
      'ONE-02 has no line in conformance/decisions.tsv, but a.test.ts: waits names it otherwise',
    ])
  })
})
